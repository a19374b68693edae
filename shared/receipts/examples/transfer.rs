//! Points move from one account to another, once per request: however often the
//! client repeats it, and whatever is lost on the way.
//!
//! `cargo run -p receipts --example transfer` runs it on a DynamoDB engine inside
//! its own process.

use std::error::Error;
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};
use receipts::{Claim, Fingerprint, Item, Outcome, Patience, Receipts};
use sha2::{Digest, Sha256};
use test_support::dynamo::Dynamo;

type Failure = Box<dyn Error + Send + Sync>;

/// What a client asks for.
struct Transfer {
    from: &'static str,
    to: &'static str,
    points: u32,
}

/// What the client is answered.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// 200, for the first time or for the tenth.
    Moved { points: u32, repeated: bool },
    /// 409: it was refused, and stays so.
    Refused,
    /// 422: the key was used for something else.
    OtherContent,
}

/// A bank on two tables, one of accounts and one of receipts.
struct Bank {
    receipts: Receipts,
    client: Client,
    accounts: String,
}

impl Bank {
    /// Moves the points, unless this customer has done so under this key before.
    async fn transfer(
        &self,
        customer: &str,
        idempotency_key: &str,
        transfer: &Transfer,
        time_left: Duration,
    ) -> Result<Answer, Failure> {
        let key = receipt_key(customer, "transfer", idempotency_key);
        let claim = Claim::new(key, fingerprint(transfer));
        let accepted = claim
            .clone()
            .storing(answer("moved", transfer.points))
            .work(self.take(transfer)?)
            .work(self.give(transfer)?);
        let patience = Patience::of(time_left);
        match self.receipts.claim(&accepted, patience).await? {
            Outcome::New => Ok(Answer::Moved { points: transfer.points, repeated: false }),
            Outcome::Replayed(receipt) => stored_answer(&receipt),
            Outcome::Mismatch(_) => Ok(Answer::OtherContent),
            // No decision yet: it becomes one by being stored under the same key.
            Outcome::WorkRefused(_) => {
                let refused = claim.storing(answer("refused", 0));
                match self.receipts.claim(&refused, patience).await? {
                    Outcome::New => Ok(Answer::Refused),
                    Outcome::Replayed(receipt) => stored_answer(&receipt),
                    Outcome::Mismatch(_) => Ok(Answer::OtherContent),
                    Outcome::WorkRefused(_) => Err("a refusal has no work".into()),
                }
            }
        }
    }

    fn take(&self, transfer: &Transfer) -> Result<TransactWriteItem, Failure> {
        let update = self
            .account(transfer.from)
            .update_expression("SET points = points - :points")
            .condition_expression("points >= :points")
            .expression_attribute_values(":points", number(transfer.points))
            .build()?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    fn give(&self, transfer: &Transfer) -> Result<TransactWriteItem, Failure> {
        let update = self
            .account(transfer.to)
            .update_expression("ADD points :points")
            .expression_attribute_values(":points", number(transfer.points))
            .build()?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    fn account(&self, name: &str) -> aws_sdk_dynamodb::types::builders::UpdateBuilder {
        Update::builder().table_name(&self.accounts).set_key(Some(item_key(name)))
    }

    async fn open(&self, name: &str, points: u32) -> Result<(), Failure> {
        let mut account = item_key(name);
        account.insert("points".to_owned(), number(points));
        let put = self.client.put_item().table_name(&self.accounts).set_item(Some(account));
        put.send().await?;
        Ok(())
    }

    /// Ann asks; what she is answered, and what there is then.
    async fn tell(&self, key: &str, transfer: &Transfer, what: &str) -> Result<String, Failure> {
        let answer = self.transfer("ann", key, transfer, Duration::from_secs(5)).await?;
        let (ann, ben) = (self.points("ann").await?, self.points("ben").await?);
        Ok(format!("{what}: {answer:?}; ann {ann}, ben {ben}"))
    }

    async fn points(&self, name: &str) -> Result<String, Failure> {
        let get = self.client.get_item().table_name(&self.accounts).set_key(Some(item_key(name)));
        let account = get.consistent_read(true).send().await?.item.unwrap_or_default();
        Ok(account.get("points").and_then(|points| points.as_n().ok()).cloned().unwrap_or_default())
    }
}

/// Who wants what done under which name, as one key. Each part goes in with its
/// length, so that ("a", "bc") and ("ab", "c") are two requests.
fn receipt_key(customer: &str, operation: &str, idempotency_key: &str) -> Item {
    item_key(&hex(&hash(&[customer, operation, idempotency_key])))
}

/// What is asked for, by rule 1.
fn fingerprint(transfer: &Transfer) -> Fingerprint {
    Fingerprint::new(1, hash(&[transfer.from, transfer.to, &transfer.points.to_string()]))
}

fn hash(parts: &[&str]) -> Vec<u8> {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize()[..16].to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn item_key(name: &str) -> Item {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    Item::from([("pk".to_owned(), text(name)), ("sk".to_owned(), text("-"))])
}

fn answer(word: &str, points: u32) -> Item {
    let word = AttributeValue::S(word.to_owned());
    Item::from([("answer".to_owned(), word), ("points".to_owned(), number(points))])
}

fn stored_answer(receipt: &Item) -> Result<Answer, Failure> {
    let word = receipt.get("answer").and_then(|word| word.as_s().ok());
    let points = receipt.get("points").and_then(|points| points.as_n().ok());
    match (word.map(String::as_str), points) {
        (Some("moved"), Some(points)) => {
            Ok(Answer::Moved { points: points.parse()?, repeated: true })
        }
        (Some("refused"), _) => Ok(Answer::Refused),
        _ => Err("a receipt without an answer".into()),
    }
}

fn number(number: u32) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// A morning at the bank: what was asked, and what was answered.
async fn morning() -> Result<Vec<String>, Failure> {
    let dynamo = Dynamo::start().await;
    let bank = Bank {
        receipts: Receipts::new(dynamo.client(), &dynamo.tables.orders),
        client: dynamo.client(),
        accounts: dynamo.tables.units.clone(),
    };
    bank.open("ann", 100).await?;
    bank.open("ben", 0).await?;
    let thirty = Transfer { from: "ann", to: "ben", points: 30 };
    let ninety = Transfer { from: "ann", to: "ben", points: 90 };
    let mut lines = vec![
        bank.tell("k1", &thirty, "the first time").await?,
        bank.tell("k1", &thirty, "the reply was lost: the same again").await?,
        bank.tell("k1", &ninety, "the same key for something else").await?,
        bank.tell("k2", &ninety, "more than there is").await?,
    ];
    bank.open("ann", 1_000).await?;
    lines.push(bank.tell("k2", &ninety, "the same again, now that there is more").await?);
    lines.push(bank.tell("k3", &ninety, "a new attempt is a new key").await?);
    Ok(lines)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example is there to be seen")]
async fn main() -> Result<(), Failure> {
    for line in morning().await? {
        println!("{line}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    async fn the_example_answers_as_its_readers_are_told() {
        let lines = super::morning().await.unwrap();
        let expected = [
            "the first time: Moved { points: 30, repeated: false }; ann 70, ben 30",
            "the reply was lost: the same again: Moved { points: 30, repeated: true }; ann 70, ben 30",
            "the same key for something else: OtherContent; ann 70, ben 30",
            "more than there is: Refused; ann 70, ben 30",
            "the same again, now that there is more: Refused; ann 1000, ben 30",
            "a new attempt is a new key: Moved { points: 90, repeated: false }; ann 910, ben 120",
        ];
        assert_eq!(lines, expected);
    }
}
