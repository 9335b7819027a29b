"""Results as people and programs read them: tables, CSV, JSON, Arrow and data frames."""
