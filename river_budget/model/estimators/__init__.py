"""River's estimators, and questions about models that others hold."""
