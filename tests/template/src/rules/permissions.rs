//! A function may do what its code does, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use dynamo_store::{OPERATIONS, Table};

use super::queues::queue_of;
use crate::code::Code;
use crate::template::{Function, Template, referenced};

/// Actions by what they are allowed on, named as the template names it.
type Rights = BTreeMap<String, BTreeSet<String>>;

const SEND: &str = "sqs:SendMessage";
/// What a trigger needs to read a queue.
const RECEIVE: [&str; 3] = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"];
const POSTPONE: &str = "sqs:ChangeMessageVisibility";
/// What a trigger needs to read a stream.
const FOLLOW: [&str; 4] = [
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
];

/// The type that sends to a queue, and the queue.
const SENDERS: [(&str, &str); 5] = [
    ("IntentQueue", "OrderIntentsQueue"),
    ("DeadLetters", "OrderIntentsDeadLetters"),
    ("ParkedLetters", "OrderIntentsParked"),
    ("SettleQueue", "SettleRetriesQueue"),
    ("LiveQueue", "LiveUpdatesQueue"),
];
/// The call that opens the connection to the queue that its function sends to in
/// a request, what it asks for, and the queue.
const REACHES: (&str, &str, &str) =
    ("queue_reach", "sqs:GetQueueAttributes", "OrderIntentsQueue.Arn");
/// The type that postpones a message of the queue that a function reads.
const POSTPONER: &str = "Visibility";
/// The variable without which a function can't find a thing, the thing, and
/// the action that it is there for.
const FOUND_BY_VARIABLE: [(&str, &str, &str); 2] = [
    ("SIGNING_SECRET_ARN", "SigningSecret", "secretsmanager:GetSecretValue"),
    (
        "CONNECTIONS_ENDPOINT",
        "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${WebSocketApi}/live/POST/@connections/*",
        "execute-api:ManageConnections",
    ),
];

/// Rights that a function lacks or doesn't use.
#[must_use]
pub fn permissions(template: &Template, code: &[Code]) -> Vec<String> {
    let mut faults = Vec::new();
    for function in template.functions() {
        let Some(code) = code.iter().find(|code| code.name == function.crate_name()) else {
            continue; // the rule on variables says so
        };
        let Some(granted) = granted(&function) else {
            faults.push(format!("{} has a policy that is not written out", function.id()));
            continue;
        };
        let needed = needed(template, &function, code);
        faults.extend(
            difference(&needed, &granted).map(|right| format!("{} lacks {right}", function.id())),
        );
        faults.extend(
            difference(&granted, &needed)
                .map(|right| format!("{} doesn't use {right}", function.id())),
        );
    }
    faults
}

fn granted(function: &Function<'_>) -> Option<Rights> {
    let mut rights = Rights::new();
    for statement in function.statements()? {
        let part = statement.partition().map(|part| format!(" of {part}")).unwrap_or_default();
        for resource in statement.resources() {
            for action in statement.actions() {
                add(&mut rights, &format!("{resource}{part}"), action);
            }
        }
    }
    Some(rights)
}

fn needed(template: &Template, function: &Function<'_>, code: &Code) -> Rights {
    let mut rights = Rights::new();
    for operation in OPERATIONS.iter().filter(|operation| code.calls(operation.name)) {
        for action in operation.actions {
            add(&mut rights, table_arn(operation.table), &format!("dynamodb:{action}"));
        }
    }
    for (sender, queue) in SENDERS {
        if code.makes(sender) {
            add(&mut rights, &format!("{queue}.Arn"), SEND);
        }
    }
    let (call, asks, queue) = REACHES;
    if code.calls(call) {
        add(&mut rights, queue, asks);
    }
    for (variable, thing, action) in FOUND_BY_VARIABLE {
        if code.variables.contains(&variable) {
            add(&mut rights, thing, action);
        }
    }
    for trigger in template.triggers() {
        if referenced(&trigger.properties["FunctionName"]) != Some(function.id()) {
            continue;
        }
        let source = trigger.properties["EventSourceArn"].as_str().unwrap_or_default();
        let reads_queue = queue_of(template, &trigger).is_some();
        let actions = if reads_queue { RECEIVE.as_slice() } else { FOLLOW.as_slice() };
        actions.iter().for_each(|action| add(&mut rights, source, action));
        if reads_queue && code.makes(POSTPONER) {
            add(&mut rights, source, POSTPONE);
        }
        if let Some(destination) =
            trigger.properties["DestinationConfig"]["OnFailure"]["Destination"].as_str()
        {
            add(&mut rights, destination, SEND);
        }
    }
    rights
}

fn add(rights: &mut Rights, resource: &str, action: &str) {
    rights.entry(resource.to_owned()).or_default().insert(action.to_owned());
}

fn table_arn(table: Table) -> &'static str {
    match table {
        Table::Catalog => "CatalogTable.Arn of event#*",
        Table::Keys => "CatalogTable.Arn of keys",
        Table::Orders => "OrdersTable.Arn",
        Table::Units => "UnitsTable.Arn",
        Table::Connections => "ConnectionsTable.Arn",
    }
}

/// What is in the first and not in the second.
fn difference(first: &Rights, second: &Rights) -> impl Iterator<Item = String> {
    first.iter().flat_map(|(resource, actions)| {
        let other = second.get(resource);
        actions
            .iter()
            .filter(move |action| !other.is_some_and(|other| other.contains(*action)))
            .map(move |action| format!("{action} on {resource}"))
    })
}
