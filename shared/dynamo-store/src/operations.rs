//! What each operation may do to which table.

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// Events and all that belongs to them: the catalogue's table, partitions
    /// `event#…`.
    Catalog,
    /// Public keys: the catalogue's table, partition `keys`. Who may write an
    /// event may not add a key that opens its till.
    Keys,
    /// Orders.
    Orders,
    /// Owned units.
    Units,
    /// WebSocket connections.
    Connections,
}

/// The rights an operation needs on a table. One that needs two tables stands
/// here twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The method's name; no other method of the workspace has it.
    pub name: &'static str,
    /// The table.
    pub table: Table,
    /// The actions, as IAM names them after `dynamodb:`.
    pub actions: &'static [&'static str],
}

const fn operation(
    name: &'static str,
    table: Table,
    actions: &'static [&'static str],
) -> Operation {
    Operation { name, table, actions }
}

const GET: &[&str] = &["GetItem"];
const QUERY: &[&str] = &["Query"];
const PUT: &[&str] = &["PutItem"];
/// Where the outcome of the put is unknown, the item is read.
const PUT_AND_LOOK: &[&str] = &["GetItem", "PutItem"];
const UPDATE: &[&str] = &["UpdateItem"];

/// Every operation of the stores.
pub const OPERATIONS: &[Operation] = &[
    operation("catalog_reach", Table::Catalog, GET),
    operation("event_fetch", Table::Catalog, GET),
    operation("event_cached", Table::Catalog, GET),
    operation("event_renewed", Table::Catalog, GET),
    operation("event_create", Table::Catalog, PUT),
    operation("event_update", Table::Catalog, UPDATE),
    operation("epoch_raise", Table::Catalog, UPDATE),
    operation("event_activate", Table::Catalog, UPDATE),
    operation("sale_command_fetch", Table::Catalog, GET),
    operation("sale_command_put", Table::Catalog, &["GetItem", "PutItem", "UpdateItem"]),
    operation("ticket_types_list", Table::Catalog, QUERY),
    operation("ticket_type_fetch", Table::Catalog, GET),
    operation("ticket_types_settled", Table::Catalog, GET),
    operation("partitions_cached", Table::Catalog, GET),
    operation("units_cached", Table::Catalog, GET),
    operation("ticket_type_create", Table::Catalog, PUT),
    operation("ticket_type_update", Table::Catalog, UPDATE),
    operation("ticket_type_resize", Table::Catalog, UPDATE),
    operation("capacity_write", Table::Catalog, &["PutItem", "UpdateItem"]),
    operation("section_put", Table::Catalog, &["PutItem", "UpdateItem"]),
    operation("section_fetch", Table::Catalog, GET),
    operation("sections_list", Table::Catalog, QUERY),
    operation("mark_fetch", Table::Catalog, GET),
    operation("mark_raise", Table::Catalog, UPDATE),
    operation("withdrawal_fetch", Table::Catalog, GET),
    operation("withdrawals_list", Table::Catalog, QUERY),
    operation("withdrawal_create", Table::Catalog, PUT),
    operation("withdrawal_update", Table::Catalog, PUT),
    operation("queue_fetch", Table::Catalog, GET),
    operation("queue_put", Table::Catalog, UPDATE),
    operation("queue_generation_raise", Table::Catalog, UPDATE),
    operation("key_put", Table::Keys, PUT),
    operation("keys_list", Table::Keys, QUERY),
    operation("order_fetch", Table::Orders, GET),
    operation("order_fetch_by_key", Table::Orders, GET),
    operation("orders_fetch", Table::Orders, &["BatchGetItem"]),
    operation("orders_list", Table::Orders, QUERY),
    operation("order_refuse", Table::Orders, PUT_AND_LOOK),
    operation("order_persist", Table::Orders, PUT_AND_LOOK),
    operation("order_persist", Table::Units, PUT),
    operation("order_end", Table::Orders, UPDATE),
    operation("order_end", Table::Units, &["DeleteItem", "GetItem"]),
    operation("unit_owner", Table::Units, GET),
    operation("units_list", Table::Units, QUERY),
    operation("connections_reach", Table::Connections, GET),
    operation("connection_put", Table::Connections, PUT),
    operation("connection_fetch", Table::Connections, GET),
    operation("connection_delete", Table::Connections, &["DeleteItem", "GetItem"]),
    operation("customer_connections_list", Table::Connections, QUERY),
    operation("subscription_put", Table::Connections, &["PutItem", "UpdateItem"]),
    operation("subscription_delete", Table::Connections, &["DeleteItem", "UpdateItem"]),
    operation("subscribers_list", Table::Connections, QUERY),
    operation("ticker_fetch", Table::Connections, GET),
    operation("ticker_arm", Table::Connections, UPDATE),
    operation("ticker_end", Table::Connections, UPDATE),
    operation("ticker_claim", Table::Connections, UPDATE),
    operation("ticker_release", Table::Connections, UPDATE),
];
