"""The fixture dp_audit of pytest."""
