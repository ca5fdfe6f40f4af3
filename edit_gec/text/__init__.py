"""What sentences.py relies on: markup of the document, paragraphs of lines, sentence ends, protected spans."""
