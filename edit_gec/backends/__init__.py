"""What runs a network: ONNX Runtime or torch, numpy in and numpy out."""
