//! The template keeps the rules, and each rule notices when it doesn't.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use order_persistence::backoff::return_seconds;
use template_test::code::Code;
use template_test::rules::{edge, metrics, permissions, queues, routes, variables};
use template_test::template::Template;

/// A rule that looks at the template alone.
type Rule = fn(&Template) -> Vec<String>;

/// All functions, with the variables they read.
const FUNCTIONS: [(&str, &[&str]); 10] = [
    ("catalog", catalog::config::VARIABLES),
    ("dead-letters", dead_letters::config::VARIABLES),
    ("live-authorizer", live_authorizer::config::VARIABLES),
    ("live-broadcast", live_broadcast::config::VARIABLES),
    ("live-connection", live_connection::config::VARIABLES),
    ("order-persistence", order_persistence::config::VARIABLES),
    ("order-projector", order_projector::config::VARIABLES),
    ("orders", orders::config::VARIABLES),
    ("queue-admission", queue_admission::config::VARIABLES),
    ("reservation", reservation::config::VARIABLES),
];

static CODE: LazyLock<Vec<Code>> = LazyLock::new(|| {
    let read = |(name, variables)| Code::read(&root(), name, variables).unwrap();
    FUNCTIONS.into_iter().map(read).collect()
});

fn variable_faults(template: &Template) -> Vec<String> {
    variables::variables(template, &CODE)
}

fn permission_faults(template: &Template) -> Vec<String> {
    permissions::permissions(template, &CODE)
}

fn cache_key(template: &Template) -> Vec<String> {
    edge::cache_key(template, &CODE)
}

fn uncounted(template: &Template) -> Vec<String> {
    metrics::counted(template, &CODE)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text() -> String {
    fs::read_to_string(root().join("template.yaml")).unwrap()
}

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

/// The template after a change, which must be one.
fn changed(from: &str, to: &str) -> Template {
    let text = text();
    assert!(text.contains(from), "the template has no {from}");
    template(&text.replacen(from, to, 1))
}

#[track_caller]
fn assert_broken(rule: Rule, from: &str, to: &str, fault: &str) {
    assert_eq!(rule(&template(&text())), Vec::<String>::new());
    let faults = rule(&changed(from, to));
    assert!(faults.iter().any(|found| found.contains(fault)), "{faults:?}");
}

/// Before the first request, so that it finds the connection open.
#[test]
fn every_function_reaches_dynamodb_when_it_starts() {
    let opening = [".catalog_reach()", ".connections_reach()", ".load_ahead("];
    for (name, _) in FUNCTIONS {
        let main = fs::read_to_string(root().join(format!("functions/{name}/src/main.rs")));
        let main = main.unwrap();
        assert!(opening.iter().any(|call| main.contains(call)), "{name} does not");
    }
}

/// Its own words come before the function is ended.
#[test]
fn a_request_for_an_order_is_given_up_before_the_functions_time_is() {
    let text = fs::read_to_string(root().join("template.yaml")).unwrap();
    let globals = text.split("\nGlobals:").nth(1).unwrap();
    let timeout = globals.lines().find_map(|line| line.trim().strip_prefix("Timeout: ")).unwrap();
    let timeout = Duration::from_secs(timeout.parse().unwrap());
    assert!(reservation::till::LONGEST + Duration::from_secs(1) < timeout);
}

#[test]
fn a_message_stays_hidden_for_six_timeouts() {
    let fault = "OrderIntentsQueue hides a message for 59 s";
    assert_broken(queues::visibility, "{Visibility: 60}", "{Visibility: 59}", fault);
}

#[test]
fn a_message_stays_hidden_for_six_timeouts_where_both_are_written_out() {
    let fault = "LiveUpdatesQueue hides a message for 179 s";
    let queue = "MaximumMessageSize: 16384\n      VisibilityTimeout: 180\n      # A nudge";
    let short = queue.replace("180", "179");
    assert_broken(queues::visibility, queue, &short, fault);
}

#[test]
fn a_longer_timeout_wants_a_longer_visibility() {
    let fault = "OrderIntentsDeadLetters hides a message for 180 s";
    assert_broken(queues::visibility, "      Timeout: 30\n", "      Timeout: 31\n", fault);
}

#[test]
fn every_batch_trigger_reports_single_failures() {
    let line = "      FunctionResponseTypes: [ReportBatchItemFailures]\n";
    let triggers = text().matches(line).count();
    assert_eq!(triggers, 5);
    for trigger in 0..triggers {
        let before = text().match_indices(line).nth(trigger).unwrap().0;
        let mut text = text();
        text.replace_range(before..before + line.len(), "");
        assert_eq!(queues::partial_batches(&template(&text)).len(), 1);
    }
    assert_eq!(queues::partial_batches(&template(&text())), Vec::<String>::new());
}

#[test]
fn what_is_given_up_goes_to_a_dead_letter_queue() {
    let queue = "deadLetterTargetArn: !GetAtt LiveUpdatesDeadLetters.Arn";
    let nowhere = "deadLetterTargetArn: !GetAtt AlarmTopic.Arn";
    let fault = "what LiveUpdatesTrigger gives up goes nowhere";
    assert_broken(queues::dead_letters, queue, nowhere, fault);
    let stream = "OnFailure: {Destination: !GetAtt OrderStreamDeadLetters.Arn}";
    let fault = "what OrderStreamTrigger gives up goes nowhere";
    assert_broken(queues::dead_letters, stream, "OnFailure: {}", fault);
}

#[test]
fn no_record_is_skipped_that_the_stream_still_has() {
    let fault = "OrderStreamTrigger gives up records that the stream still has";
    let (tries, age) = ("MaximumRetryAttempts: -1", "MaximumRecordAgeInSeconds: 86400");
    assert_broken(queues::streams, tries, "MaximumRetryAttempts: 20", fault);
    assert_broken(queues::streams, age, "MaximumRecordAgeInSeconds: 3600", fault);
}

#[test]
fn somebody_is_told_of_what_nobody_works_off() {
    let metric = "MetricName: ApproximateNumberOfMessagesVisible\n      Dimensions: [{Name: QueueName, Value: !GetAtt OrderIntentsParked.QueueName}]";
    let other = metric.replace("OrderIntentsParked", "OrderIntentsQueue");
    let fault = "nobody is told of messages in OrderIntentsParked";
    assert_broken(queues::alarms, metric, &other, fault);
    let reader = "EventSourceArn: !GetAtt OrderIntentsDeadLetters.Arn";
    let nobody = "EventSourceArn: !GetAtt OrderIntentsQueue.Arn";
    let fault = "nobody is told of messages in OrderIntentsDeadLetters";
    assert_broken(queues::alarms, reader, nobody, fault);
}

#[test]
fn a_dead_letter_queue_takes_the_largest_intent_and_why() {
    let size = "MaximumMessageSize: 73728\n";
    let fault = "OrderIntentsDeadLetters can't take the largest intent and why";
    assert_broken(queues::room_for_letters, size, "MaximumMessageSize: 65536\n", fault);
}

#[test]
fn the_deadline_ends_an_intent_and_not_the_count() {
    let rule = |template: &Template| queues::deadlines(template, return_seconds);
    let fault = "order intents are given up after 2851 s, holds last 21600 s";
    assert_broken(rule, "maxReceiveCount: 1000", "maxReceiveCount: 100", fault);
    let fault = "order intents or their holds have no limit";
    assert_broken(rule, "    MaxValue: 21600\n", "", fault);
}

#[test]
fn every_queue_limits_the_size_of_a_message() {
    let size = "      MaximumMessageSize: 16384\n";
    assert_broken(queues::size_limits, size, "", "SettleRetriesQueue has no size limit");
}

#[test]
fn the_routes_are_those_of_the_contract() {
    let missing = "the template lacks `GET /orders` to OrdersFunction, with a token";
    assert_broken(routes::routes, "GET /orders", "GET /order", missing);
    let surplus = "only the template has `GET /order` to OrdersFunction, with a token";
    assert_broken(routes::routes, "GET /orders", "GET /order", surplus);
}

#[test]
fn a_route_that_wants_a_token_has_the_authorizer() {
    let open = "only the template has `PUT /events/{event}` to CatalogFunction, without a token";
    let token = "AuthorizationType: JWT, AuthorizerId: !Ref TokenAuthorizer";
    assert_broken(routes::routes, token, "AuthorizationType: NONE", open);
}

#[test]
fn a_route_goes_to_its_function() {
    let fault = "only the template has `GET /orders` to ReservationFunction, with a token";
    let from = "RouteKey: \"GET /orders\", Target: !Sub \"integrations/${OrdersIntegration}\"";
    let to = "RouteKey: \"GET /orders\", Target: !Sub \"integrations/${ReservationIntegration}\"";
    assert_broken(routes::routes, from, to, fault);
}

#[test]
fn unknown_paths_go_to_the_catalogue() {
    let fault = "the template lacks `$default` to CatalogFunction, without a token";
    assert_broken(routes::routes, "RouteKey: \"$default\"", "RouteKey: \"GET /\"", fault);
}

#[test]
fn the_api_may_call_the_functions_it_names() {
    let fault = "the HTTP API may not call OrdersFunction";
    let permission = "FunctionName: !Ref OrdersFunction\n      Principal";
    let other = "FunctionName: !Ref CatalogFunction\n      Principal";
    assert_broken(routes::invocations, permission, other, fault);
}

#[test]
fn what_the_cdn_keeps_depends_on_what_the_routes_read() {
    let list = "QueryStrings: [after, epoch, limit, next, ticket_type, version]";
    let fault = "must depend on the parameters {\"after\", \"epoch\", \"limit\", \"next\", \"ticket_type\", \"version\"}";
    let (fewer, more) = (list.replace("epoch, ", ""), list.replace("after", "after, cachebust"));
    assert_broken(cache_key, list, &fewer, fault);
    assert_broken(cache_key, list, &more, fault);
    assert_broken(cache_key, "QueryStringBehavior: whitelist", "QueryStringBehavior: all", fault);
    let fault = "must depend on Origin and on no other header";
    assert_broken(cache_key, "Headers: [Origin]", "Headers: [Authorization]", fault);
    assert_broken(cache_key, "Headers: [Origin]", "Headers: [Origin, Authorization]", fault);
    let fault = "the origin must not see parameters that are not in the key";
    assert_broken(cache_key, "QueryStringBehavior: none", "QueryStringBehavior: all", fault);
    let cookies = "{HeaderBehavior: allExcept, Headers: [Host]}\n        CookiesConfig: {CookieBehavior: none}";
    assert_broken(cache_key, cookies, &cookies.replace("none", "all"), fault);
}

#[test]
fn functions_in_the_vpc_reach_aws_over_ipv6() {
    let line =
        "          AWS_USE_DUALSTACK_ENDPOINT: !If [OnAws, \"true\", !Ref \"AWS::NoValue\"]\n";
    assert_broken(variables::dual_stack, line, "", "CatalogFunction is in the VPC or has");
}

#[test]
fn a_function_gets_the_variables_it_reads() {
    let given = "          SIGNING_SECRET_ARN: !Ref SigningSecret\n";
    assert_broken(variable_faults, given, "", "QueueAdmissionFunction lacks SIGNING_SECRET_ARN");
    let common = "        RUST_LOG: !Ref LogLevel\n";
    assert_broken(variable_faults, common, "", "LiveAuthorizerFunction lacks RUST_LOG");
}

#[test]
fn a_function_gets_no_variable_that_it_does_not_read() {
    let variable = "          SIGNING_SECRET_ARN: !Ref SigningSecret\n";
    let more = format!("{variable}          ORDERS_TABLE: !Ref OrdersTable\n");
    assert_broken(variable_faults, variable, &more, "queue-admission doesn't read ORDERS_TABLE");
}

#[test]
fn every_crate_is_a_function_and_every_function_a_crate() {
    let fault = "TicketsFunction has no crate tickets";
    assert_broken(variable_faults, "  OrdersFunction:\n", "  TicketsFunction:\n", fault);
    let fault = "orders is not in the template";
    assert_broken(variable_faults, "  OrdersFunction:\n", "  TicketsFunction:\n", fault);
    let folders = fs::read_dir(root().join("functions")).unwrap();
    assert_eq!(folders.count(), FUNCTIONS.len());
}

#[test]
fn every_sign_of_trouble_is_counted_once() {
    let term = " || ($.metric = \"foreign_units\")";
    let fault = "nothing counts foreign_units of CatalogFunction";
    assert_broken(uncounted, term, "", fault);
    assert_broken(uncounted, term, &term.replace("$.metric", "$.message"), fault);
    let twice = format!("{term}{term}");
    assert_broken(uncounted, term, &twice, "foreign_units of CatalogFunction counts twice");
    let more = format!("{term} || ($.metric = \"unreadable_order\")");
    assert_broken(uncounted, term, &more, "CatalogFunction doesn't log unreadable_order");
    let group = "LogGroupName: !Ref OrdersLogs";
    let fault = "nothing counts order_unknown_to_dynamodb of OrdersFunction";
    assert_broken(uncounted, group, "LogGroupName: !Ref CatalogLogs", fault);
}

#[test]
fn somebody_is_told_of_what_is_counted() {
    let fault = "no alarm watches OrderProjectorLostWrites";
    assert_broken(metrics::watched, "      MetricName: LostWrites\n", "", fault);
    let fault = "no alarm watches OrdersContradictions";
    let namespace = "Namespace: !Ref AWS::StackName\n      MetricName: Contradictions";
    let other = "Namespace: AWS/SQS\n      MetricName: Contradictions";
    assert_broken(metrics::watched, namespace, other, fault);
}

#[test]
fn every_sign_of_trouble_is_explained() {
    let docs = fs::read_to_string(root().join("docs/operations.md")).unwrap();
    assert_eq!(metrics::explained(&CODE, &docs), Vec::<String>::new());
    let renamed = docs.replace("| `unit_taken` |", "| `unit_gone` |");
    let faults = metrics::explained(&CODE, &renamed);
    assert_eq!(faults, ["the docs lack unit_taken", "nothing logs unit_gone"]);
}

/// The template with one function's part of it changed.
#[track_caller]
fn changed_in(function: &str, from: &str, to: &str) -> Template {
    let text = text();
    let start = text.find(&format!("\n  {function}:\n")).unwrap();
    let (before, part) = text.split_at(start);
    assert!(part.contains(from), "{function} has no {from}");
    template(&format!("{before}{}", part.replacen(from, to, 1)))
}

#[track_caller]
fn assert_function_broken(function: &str, from: &str, to: &str, fault: &str) {
    assert_eq!(permission_faults(&template(&text())), Vec::<String>::new());
    let faults = permission_faults(&changed_in(function, from, to));
    assert_eq!(faults, [format!("{function} {fault}")]);
}

#[test]
fn a_function_may_not_do_more_to_a_table_than_its_code_does() {
    let orders = "Resource: !GetAtt OrdersTable.Arn";
    let more =
        format!("{orders}\n            - {{Effect: Allow, Action: dynamodb:DeleteItem, {orders}}}");
    let fault = "doesn't use dynamodb:DeleteItem on OrdersTable.Arn";
    assert_function_broken("OrdersFunction", orders, &more, fault);
    let units = format!(
        "{orders}\n            - {{Effect: Allow, Action: dynamodb:Query, Resource: !GetAtt UnitsTable.Arn}}"
    );
    let fault = "doesn't use dynamodb:Query on UnitsTable.Arn";
    assert_function_broken("OrdersFunction", orders, &units, fault);
}

#[test]
fn a_function_may_ask_for_what_opens_its_connection_ahead() {
    let asks = "            - {Effect: Allow, Action: sqs:GetQueueAttributes, \
                Resource: !GetAtt OrderIntentsQueue.Arn}\n";
    let fault = "lacks sqs:GetQueueAttributes on OrderIntentsQueue.Arn";
    assert_function_broken("ReservationFunction", asks, "", fault);
}

#[test]
fn a_function_may_do_only_to_its_own_part_of_the_catalogue_what_its_code_does() {
    let events = "{\"dynamodb:LeadingKeys\": \"event#*\"}";
    for other in ["{\"dynamodb:LeadingKeys\": \"*\"}", "{\"dynamodb:LeadingKeys\": keys}"] {
        let faults = permission_faults(&changed_in("CatalogFunction", events, other));
        let part = if other.contains('*') { "*" } else { "keys" };
        let more =
            format!("CatalogFunction doesn't use dynamodb:PutItem on CatalogTable.Arn of {part}");
        assert!(faults.contains(&more), "{faults:?}");
        let less = "CatalogFunction lacks dynamodb:PutItem on CatalogTable.Arn of event#*";
        assert!(faults.iter().any(|fault| fault == less), "{faults:?}");
    }
    let condition = format!("              Condition: {{\"ForAllValues:StringLike\": {events}}}\n");
    let faults = permission_faults(&changed_in("CatalogFunction", &condition, ""));
    let more = "CatalogFunction doesn't use dynamodb:PutItem on CatalogTable.Arn";
    assert!(faults.iter().any(|fault| fault == more), "{faults:?}");
}

#[test]
fn a_function_may_do_to_a_table_what_its_code_does() {
    let fault = "lacks dynamodb:GetItem on OrdersTable.Arn";
    assert_function_broken(
        "OrderPersistenceFunction",
        "dynamodb:GetItem, dynamodb:PutItem",
        "dynamodb:PutItem",
        fault,
    );
}

#[test]
fn a_function_sends_only_to_the_queues_its_code_sends_to() {
    let send =
        "- {Effect: Allow, Action: sqs:SendMessage, Resource: !GetAtt OrderIntentsQueue.Arn}";
    let other = send.replace("OrderIntentsQueue", "LiveUpdatesQueue");
    let both = format!("{send}\n            {other}");
    let fault = "doesn't use sqs:SendMessage on LiveUpdatesQueue.Arn";
    assert_function_broken("ReservationFunction", send, &both, fault);
    let fault = "lacks sqs:SendMessage on OrderIntentsQueue.Arn";
    assert_function_broken("ReservationFunction", send, "", fault);
}

#[test]
fn a_function_receives_only_from_the_queue_that_triggers_it() {
    let receive = "sqs:ReceiveMessage, ";
    let fault = "lacks sqs:ReceiveMessage on LiveUpdatesQueue.Arn";
    assert_function_broken("LiveBroadcastFunction", receive, "", fault);
    let purge = "sqs:ReceiveMessage, sqs:PurgeQueue, ";
    let fault = "doesn't use sqs:PurgeQueue on LiveUpdatesQueue.Arn";
    assert_function_broken("LiveBroadcastFunction", receive, purge, fault);
}

#[test]
fn a_function_reads_a_secret_only_if_it_knows_which() {
    let secret =
        "- {Effect: Allow, Action: secretsmanager:GetSecretValue, Resource: !Ref SigningSecret}";
    let fault = "lacks secretsmanager:GetSecretValue on SigningSecret";
    assert_function_broken("QueueAdmissionFunction", secret, "", fault);
}

#[test]
fn rights_are_written_out() {
    let statement = "- Statement:";
    let policy = "- DynamoDBCrudPolicy: {TableName: !Ref OrdersTable}\n        - Statement:";
    let fault = "has a policy that is not written out";
    assert_function_broken("OrdersFunction", statement, policy, fault);
    let fault = "doesn't use dynamodb:* on OrdersTable.Arn";
    let orders = "Resource: !GetAtt OrdersTable.Arn";
    let all =
        format!("{orders}\n            - {{Effect: Allow, Action: \"dynamodb:*\", {orders}}}");
    assert_function_broken("OrdersFunction", orders, &all, fault);
}
