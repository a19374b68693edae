//! Conditions and changes with the names and values they use.
//!
//! Attributes whose name could be a reserved word are written `#name` and mean
//! the attribute `name`: the mapping is read off the expression itself, so that
//! none can be forgotten.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;

use super::item::Item;

/// What a value in an expression can be given as.
pub(crate) trait IntoValue {
    fn into_value(self) -> AttributeValue;
}

impl IntoValue for AttributeValue {
    fn into_value(self) -> AttributeValue {
        self
    }
}

impl IntoValue for &str {
    fn into_value(self) -> AttributeValue {
        AttributeValue::S(self.to_owned())
    }
}

impl IntoValue for u64 {
    fn into_value(self) -> AttributeValue {
        AttributeValue::N(self.to_string())
    }
}

impl IntoValue for u32 {
    fn into_value(self) -> AttributeValue {
        u64::from(self).into_value()
    }
}

impl IntoValue for bool {
    fn into_value(self) -> AttributeValue {
        AttributeValue::Bool(self)
    }
}

impl IntoValue for i64 {
    fn into_value(self) -> AttributeValue {
        AttributeValue::N(self.to_string())
    }
}

/// A condition with its values.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    text: &'static str,
    values: BTreeMap<String, AttributeValue>,
}

impl Guard {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { text, values: BTreeMap::new() }
    }

    /// With a value for `:name`.
    #[must_use]
    pub(crate) fn value(mut self, name: &str, value: impl IntoValue) -> Self {
        self.values.insert(name.to_owned(), value.into_value());
        self
    }

    pub(crate) fn text(&self) -> &'static str {
        self.text
    }

    pub(crate) fn names(&self) -> Option<HashMap<String, String>> {
        not_empty(names_in(self.text).collect())
    }

    pub(crate) fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        not_empty(self.values.clone().into_iter().collect())
    }
}

/// A change of an item: an update expression with its values.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    text: String,
    values: BTreeMap<String, AttributeValue>,
}

impl Change {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), values: BTreeMap::new() }
    }

    /// Sets every one of these attributes.
    pub(crate) fn set(attributes: Item) -> Self {
        let sorted: BTreeMap<String, AttributeValue> = attributes.into_iter().collect();
        let assignments: Vec<String> =
            sorted.keys().map(|name| format!("#{name} = :{name}")).collect();
        let values = sorted.into_iter().map(|(name, value)| (format!(":{name}"), value)).collect();
        Self { text: format!("SET {}", assignments.join(", ")), values }
    }

    /// With one more clause (`, #x = :x` of a SET, or ` REMOVE #y`) at its end.
    #[must_use]
    pub(crate) fn and(mut self, clause: &str) -> Self {
        self.text.push_str(clause);
        self
    }

    /// With a value for `:name`.
    #[must_use]
    pub(crate) fn value(mut self, name: &str, value: impl IntoValue) -> Self {
        self.values.insert(name.to_owned(), value.into_value());
        self
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn names_with(&self, guard: &Guard) -> Option<HashMap<String, String>> {
        not_empty(names_in(&self.text).chain(names_in(guard.text)).collect())
    }

    pub(crate) fn values_with(&self, guard: &Guard) -> Option<HashMap<String, AttributeValue>> {
        let both = self.values.clone().into_iter().chain(guard.values.clone());
        not_empty(both.collect())
    }
}

/// DynamoDB refuses empty maps of names or values.
fn not_empty<V>(map: HashMap<String, V>) -> Option<HashMap<String, V>> {
    (!map.is_empty()).then_some(map)
}

/// Every `#name` of an expression, with the attribute it means.
fn names_in(expression: &str) -> impl Iterator<Item = (String, String)> + '_ {
    expression.split('#').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let name = &rest[..end.unwrap_or(rest.len())];
        (format!("#{name}"), name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_off_the_expression() {
        let guard = Guard::new("#version = :old AND (attribute_not_exists(#limit) OR #a_b<:c)");
        let mut names: Vec<String> = guard.names().unwrap().into_values().collect();
        names.sort();
        assert_eq!(names, ["a_b", "limit", "version"]);
        assert_eq!(Guard::new("attribute_not_exists(pk)").names(), None);
        assert_eq!(Guard::new("attribute_not_exists(pk)").values(), None);
    }

    #[test]
    fn a_change_sets_its_attributes_in_order() {
        let attributes = Item::from([
            ("b".to_owned(), AttributeValue::N("2".to_owned())),
            ("a".to_owned(), AttributeValue::N("1".to_owned())),
        ]);
        let change = Change::set(attributes).and(", #c = :c").value(":c", 3u64);
        assert_eq!(change.text(), "SET #a = :a, #b = :b, #c = :c");
        let guard = Guard::new("#v = :v").value(":v", 1u64);
        assert_eq!(change.names_with(&guard).unwrap().len(), 4);
        assert_eq!(change.values_with(&guard).unwrap().len(), 4);
    }
}
