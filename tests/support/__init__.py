"""What several tests share: strategies, stand-ins, small models, live servers."""
