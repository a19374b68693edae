//! Reading the template: resources by type, and the intrinsic functions that
//! the rules must see through.

use std::collections::BTreeMap;

use yaml_serde::Value;

/// The parsed template.
#[derive(Debug)]
pub struct Template {
    root: Value,
}

/// A resource: its logical id and its properties.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'a> {
    /// The name it has in the template.
    pub id: &'a str,
    /// What it is made of.
    pub properties: &'a Value,
    /// What becomes of it when the stack is deleted.
    pub deletion_policy: Option<&'a str>,
}

/// What each parameter is taken to be while a number is worked out.
pub type Parameters = BTreeMap<String, String>;

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// When it is not YAML.
    pub fn parse(text: &str) -> Result<Self, yaml_serde::Error> {
        Ok(Self { root: yaml_serde::from_str(text)? })
    }

    /// All resources of a type.
    pub fn resources<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = Resource<'a>> {
        entries(&self.root["Resources"])
            .filter(move |(_, resource)| resource["Type"].as_str() == Some(kind))
            .map(|(id, resource)| Resource {
                id,
                properties: &resource["Properties"],
                deletion_policy: resource["DeletionPolicy"].as_str(),
            })
    }

    /// The names of all resources, each with its type.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(&self.root["Resources"])
            .map(|(id, resource)| (id, resource["Type"].as_str().unwrap_or_default()))
    }

    /// What all functions have in common.
    pub fn function_globals(&self) -> impl Iterator<Item = (&str, &Value)> {
        entries(&self.root["Globals"]["Function"])
    }

    /// A condition.
    #[must_use]
    pub fn condition(&self, name: &str) -> &Value {
        &self.root["Conditions"][name]
    }

    /// The functions.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        let globals = &self.root["Globals"]["Function"];
        self.resources("AWS::Serverless::Function")
            .map(move |resource| Function { resource, globals })
    }

    /// The queues.
    pub fn queues(&self) -> impl Iterator<Item = Resource<'_>> {
        self.resources("AWS::SQS::Queue")
    }

    /// What calls a function for batches of a queue or a stream.
    pub fn triggers(&self) -> impl Iterator<Item = Resource<'_>> {
        self.resources("AWS::Lambda::EventSourceMapping")
    }

    /// The largest value that a parameter may have.
    #[must_use]
    pub fn largest(&self, parameter: &str) -> Option<u64> {
        self.root["Parameters"][parameter]["MaxValue"].as_u64()
    }

    /// All that the parameter may be which a number depends on; one empty
    /// choice if it depends on none.
    #[must_use]
    pub fn choices(&self, values: &[&Value]) -> Vec<Parameters> {
        let Some(name) = values.iter().find_map(|value| parameter(value)) else {
            return vec![Parameters::new()];
        };
        let declared = &self.root["Parameters"][name];
        let allowed = declared["AllowedValues"].as_sequence().cloned().unwrap_or_default();
        allowed.iter().map(|value| Parameters::from([(name.to_owned(), plain(value))])).collect()
    }

    /// A number: written out, a parameter, or found in a map.
    #[must_use]
    pub fn number(&self, value: &Value, parameters: &Parameters) -> Option<u64> {
        self.text(value, parameters)?.parse().ok()
    }

    fn text(&self, value: &Value, parameters: &Parameters) -> Option<String> {
        if is(value, "Ref") {
            return parameters.get(value.as_str()?).cloned();
        }
        if is(value, "FindInMap") {
            let keys = value.as_sequence()?;
            let keys: Vec<String> =
                keys.iter().map(|key| self.text(key, parameters)).collect::<Option<_>>()?;
            let [map, first, second] = keys.as_slice() else { return None };
            return Some(plain(
                &self.root["Mappings"][map.as_str()][first.as_str()][second.as_str()],
            ));
        }
        Some(plain(value))
    }
}

/// A function of the template.
#[derive(Debug, Clone, Copy)]
pub struct Function<'a> {
    resource: Resource<'a>,
    globals: &'a Value,
}

impl<'a> Function<'a> {
    /// The name it has in the template.
    #[must_use]
    pub fn id(&self) -> &'a str {
        self.resource.id
    }

    /// The crate it is built from: `OrderPersistenceFunction` is
    /// `order-persistence`.
    #[must_use]
    pub fn crate_name(&self) -> String {
        let mut name = String::new();
        for letter in self.id().trim_end_matches("Function").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(letter.to_lowercase());
        }
        name
    }

    /// The names of the variables it is given.
    #[must_use]
    pub fn variables(&self) -> Vec<&'a str> {
        [self.globals, self.resource.properties]
            .iter()
            .flat_map(|owner| entries(&owner["Environment"]["Variables"]))
            .map(|(name, _)| name)
            .collect()
    }

    /// The value of a variable it is given.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&'a Value> {
        [self.resource.properties, self.globals]
            .into_iter()
            .map(|owner| &owner["Environment"]["Variables"][name])
            .find(|value| !value.is_null())
    }

    /// What is said of it, but for what all have in common.
    pub fn properties(&self) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
        entries(self.resource.properties)
    }

    /// Its timeout.
    #[must_use]
    pub fn timeout(&self) -> &'a Value {
        let own = &self.resource.properties["Timeout"];
        if own.is_null() { &self.globals["Timeout"] } else { own }
    }

    /// The log group it writes to.
    #[must_use]
    pub fn log_group(&self) -> Option<&'a str> {
        referenced(&self.resource.properties["LoggingConfig"]["LogGroup"])
    }

    /// Whether it runs in the VPC.
    #[must_use]
    pub fn is_in_vpc(&self) -> bool {
        !self.resource.properties["VpcConfig"].is_null()
    }

    /// What it may do; `None` stands for a policy that is not written out, so
    /// that nobody can see what it allows.
    #[must_use]
    pub fn statements(&self) -> Option<Vec<Statement<'a>>> {
        let mut statements = Vec::new();
        for policy in list(&self.resource.properties["Policies"]) {
            let written_out = policy["Statement"].as_sequence()?;
            statements.extend(written_out.iter().map(|statement| Statement { statement }));
        }
        Some(statements)
    }
}

/// A statement of a policy.
#[derive(Debug, Clone, Copy)]
pub struct Statement<'a> {
    statement: &'a Value,
}

impl<'a> Statement<'a> {
    /// The statement as it is written.
    #[must_use]
    pub fn written(&self) -> &'a Value {
        self.statement
    }

    /// What it allows.
    #[must_use]
    pub fn actions(&self) -> Vec<&'a str> {
        list(&self.statement["Action"]).filter_map(Value::as_str).collect()
    }

    /// On what: as `Orders.Arn` for `!GetAtt`, the id for `!Ref`, the text for
    /// the rest.
    #[must_use]
    pub fn resources(&self) -> Vec<&'a str> {
        list(&self.statement["Resource"]).filter_map(Value::as_str).collect()
    }

    /// The only partitions of the table that it is about, where it says so.
    #[must_use]
    pub fn partition(&self) -> Option<&'a str> {
        let keys = &self.statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
        keys.as_str()
    }
}

/// The entries of a map; none if it isn't one.
pub(crate) fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let map = value.as_mapping();
    map.into_iter().flatten().filter_map(|(name, value)| Some((name.as_str()?, value)))
}

/// A list, or the one thing that stands in its place.
pub(crate) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    let (many, one) = match value {
        Value::Sequence(many) => (many.as_slice(), None),
        Value::Null => (&[][..], None),
        Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Mapping(_)
        | Value::Tagged(_) => (&[][..], Some(value)),
    };
    many.iter().chain(one)
}

/// The logical id that a `!Ref` or a `!GetAtt` names.
#[must_use]
pub fn referenced(value: &Value) -> Option<&str> {
    let named = value.as_str().filter(|_| is(value, "Ref") || is(value, "GetAtt"))?;
    named.split('.').next()
}

/// Whether a value stands in the template as this YAML.
#[must_use]
pub fn is_written(value: &Value, yaml: &str) -> bool {
    yaml_serde::from_str::<Value>(yaml).is_ok_and(|expected| expected == *value)
}

fn parameter(value: &Value) -> Option<&str> {
    if is(value, "FindInMap") {
        return value.as_sequence()?.iter().find_map(parameter);
    }
    value.as_str().filter(|_| is(value, "Ref"))
}

/// Whether a value is written with this intrinsic function.
pub(crate) fn is(value: &Value, function: &str) -> bool {
    match value {
        Value::Tagged(tagged) => tagged.tag == function,
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Sequence(_)
        | Value::Mapping(_) => false,
    }
}

fn plain(value: &Value) -> String {
    match value.as_u64() {
        Some(number) => number.to_string(),
        None => value.as_str().unwrap_or_default().to_owned(),
    }
}
