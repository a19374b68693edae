//! What an authorizer answers.

use contracts::live::{Pass, Principal};
use serde::Serialize;
use serde_json::{Map, Value};

/// Allowed or denied, and who it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    principal_id: String,
    policy_document: PolicyDocument,
    /// What the connection's function is told about whoever connected.
    context: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct PolicyDocument {
    version: &'static str,
    statement: [Statement; 1],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Statement {
    action: &'static str,
    effect: &'static str,
    resource: String,
}

/// By which kind of token somebody came; for the logs of what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fan,
    Admission,
    Viewer,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Fan => "fan",
            Self::Admission => "admission",
            Self::Viewer => "viewer",
        }
    }
}

impl Authorization {
    pub(crate) fn allow(method_arn: &str, kind: Kind, pass: &Pass) -> Self {
        let mut context = pass.to_context();
        context.insert("kind".to_owned(), Value::from(kind.name()));
        let principal_id = match &pass.principal {
            Principal::Customer(customer) => customer.as_str(),
            Principal::Viewer => kind.name(),
        };
        Self::new(principal_id, "Allow", method_arn, context)
    }

    pub(crate) fn deny(method_arn: &str) -> Self {
        Self::new("nobody", "Deny", method_arn, Map::new())
    }

    /// Whether it allows.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.policy_document.statement.iter().all(|statement| statement.effect == "Allow")
    }

    fn new(
        principal_id: &str,
        effect: &'static str,
        method_arn: &str,
        context: Map<String, Value>,
    ) -> Self {
        let statement =
            Statement { action: "execute-api:Invoke", effect, resource: method_arn.to_owned() };
        Self {
            principal_id: principal_id.to_owned(),
            policy_document: PolicyDocument { version: "2012-10-17", statement: [statement] },
            context,
        }
    }
}
