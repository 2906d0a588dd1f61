"""What travels: frozen, named, versioned messages, their codec and their generated contracts."""
