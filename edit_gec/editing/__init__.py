"""EdiT5's decisions: logits to an edit plan, an edit plan to changes of the text."""
