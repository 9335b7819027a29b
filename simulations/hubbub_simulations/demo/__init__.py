"""The main job from nothing: a fleet reports a real distribution to a running collector, and it is recovered."""
