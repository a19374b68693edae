//! The template keeps the rules, and each rule notices when it doesn't.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

use template_test::rules::{queues, routes, variables};
use template_test::template::Template;

/// A rule that looks at the template alone.
type Rule = fn(&Template) -> Vec<String>;

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
    let fault = "SettleRetriesQueue hides a message for 180 s";
    assert_broken(queues::visibility, "      Timeout: 30\n", "      Timeout: 31\n", fault);
}

#[test]
fn every_batch_trigger_reports_single_failures() {
    let line = "      FunctionResponseTypes: [ReportBatchItemFailures]\n";
    let triggers = text().matches(line).count();
    assert_eq!(triggers, 4);
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
    let queue = "      RedrivePolicy: {deadLetterTargetArn: !GetAtt LiveUpdatesDeadLetters.Arn, maxReceiveCount: 3}\n";
    assert_broken(queues::dead_letters, queue, "", "LiveUpdatesTrigger gives up goes nowhere");
    let stream =
        "      DestinationConfig: {OnFailure: {Destination: !GetAtt OrderStreamDeadLetters.Arn}}\n";
    assert_broken(queues::dead_letters, stream, "", "OrderStreamTrigger gives up goes nowhere");
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
fn functions_in_the_vpc_reach_aws_over_ipv6() {
    let line =
        "          AWS_USE_DUALSTACK_ENDPOINT: !If [OnAws, \"true\", !Ref \"AWS::NoValue\"]\n";
    assert_broken(variables::dual_stack, line, "", "CatalogFunction is in the VPC or has");
}
