"""Embedders that a provider hosts: OpenAI and what speaks its protocol, Gemini, Cloudflare Workers AI."""
