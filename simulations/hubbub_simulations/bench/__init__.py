"""Speed, as ratios: each figure is set beside another that the same machine gave at the same moment."""
