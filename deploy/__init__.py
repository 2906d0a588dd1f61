"""What an operator gets: the image, compose and Kubernetes files, made from the catalogue where they name it."""
