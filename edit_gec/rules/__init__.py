"""What is known without a network: rules as rows with their proof, word tables, checks that refuse edits, dialects."""
