//! The steps of a transaction.

use aws_sdk_dynamodb::types::{Delete, Get, Put, TransactGetItem, TransactWriteItem, Update};

use super::{Change, Guard, Item, Key, TableClient};
use crate::StoreError;

pub(crate) fn get(table: &TableClient, key: &Key) -> Result<TransactGetItem, StoreError> {
    let get = Get::builder()
        .table_name(table.name())
        .set_key(Some(key.to_item()))
        .build()
        .map_err(|source| StoreError::Invalid(source.into()))?;
    Ok(TransactGetItem::builder().get(get).build())
}

pub(crate) fn put(
    table: &TableClient,
    item: Item,
    guard: &Guard,
) -> Result<TransactWriteItem, StoreError> {
    let put = Put::builder()
        .table_name(table.name())
        .set_item(Some(item))
        .condition_expression(guard.text())
        .set_expression_attribute_names(guard.names())
        .set_expression_attribute_values(guard.values())
        .build()
        .map_err(|source| StoreError::Invalid(source.into()))?;
    Ok(TransactWriteItem::builder().put(put).build())
}

pub(crate) fn update(
    table: &TableClient,
    key: &Key,
    change: &Change,
    guard: &Guard,
) -> Result<TransactWriteItem, StoreError> {
    let update = Update::builder()
        .table_name(table.name())
        .set_key(Some(key.to_item()))
        .update_expression(change.text())
        .condition_expression(guard.text())
        .set_expression_attribute_names(change.names_with(guard))
        .set_expression_attribute_values(change.values_with(guard))
        .build()
        .map_err(|source| StoreError::Invalid(source.into()))?;
    Ok(TransactWriteItem::builder().update(update).build())
}

pub(crate) fn delete(
    table: &TableClient,
    key: &Key,
    guard: &Guard,
) -> Result<TransactWriteItem, StoreError> {
    let delete = Delete::builder()
        .table_name(table.name())
        .set_key(Some(key.to_item()))
        .condition_expression(guard.text())
        .set_expression_attribute_names(guard.names())
        .set_expression_attribute_values(guard.values())
        .build()
        .map_err(|source| StoreError::Invalid(source.into()))?;
    Ok(TransactWriteItem::builder().delete(delete).build())
}
