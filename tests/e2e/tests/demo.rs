//! The demo itself, small: its crowd buys out a hall, and its account is right.

use clap::Parser;
use e2e::demo::options::Options;
use e2e::demo::{report, run};
use e2e::error::ClientError;
use std::time::Duration;

#[tokio::test]
async fn a_small_crowd_buys_out_a_small_hall_and_every_promise_is_kept() -> Result<(), ClientError>
{
    let words = "demo --fans 80 --seats 30 --standing 30 --cap 20 --seed 7 --json";
    let options = Options::parse_from(words.split(' '));
    let finished = run::run(&options).await?;
    let account = &finished.account;
    let report = report::text(&finished, &options, Duration::ZERO);
    assert!(account.is_kept(), "{report}");
    assert_eq!(account.sold, 60, "{report}");
    assert!(account.refused > 0, "{report}");
    let json = report::json(&finished, &options, Duration::ZERO);
    for integer in ["sold", "refused", "held", "oversold", "lost", "double"] {
        assert!(json[integer].is_u64(), "{integer}: {json}");
    }
    assert!(json["persisted_in_time"].is_boolean(), "{json}");
    for boolean in ["equation_redis", "equation_dynamodb"] {
        assert_eq!(json[boolean], true, "{json}");
    }
    assert!(!json.to_string().contains('\n'), "one line");
    Ok(())
}
