//! The public interface's routes, once: the template is tested against this
//! table, and the default route answers 404 and 405 from it.

use http::Method;

/// The functions that answer HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpFunction {
    /// Events, ticket types, seat maps, sale, seats.
    Catalog,
    /// The waiting room.
    QueueAdmission,
    /// Placing orders.
    Reservation,
    /// Reading orders.
    Orders,
}

/// Whose token a route wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nobody's.
    Public,
    /// A fan's (any verified customer's).
    Fan,
    /// One of the group `operators`.
    Operator,
}

/// One route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: &'static str,
    /// The path, with `{parameters}`.
    pub path: &'static str,
    /// Who answers.
    pub function: HttpFunction,
    /// Who may ask.
    pub access: Access,
}

const fn route(
    method: &'static str,
    path: &'static str,
    function: HttpFunction,
    access: Access,
) -> Route {
    Route { method, path, function, access }
}

/// All routes but the default one, which the catalogue answers, and those for
/// HEAD, which every GET has beside it.
pub const ROUTES: &[Route] = &[
    route("GET", "/events/{event}", HttpFunction::Catalog, Access::Public),
    route("PUT", "/events/{event}", HttpFunction::Catalog, Access::Operator),
    route("GET", "/events/{event}/ticket-types", HttpFunction::Catalog, Access::Public),
    route("PUT", "/events/{event}/ticket-types/{type}", HttpFunction::Catalog, Access::Operator),
    route("GET", "/events/{event}/seat-map", HttpFunction::Catalog, Access::Public),
    route(
        "PUT",
        "/events/{event}/seat-map/sections/{section}",
        HttpFunction::Catalog,
        Access::Operator,
    ),
    route("PUT", "/events/{event}/sale", HttpFunction::Catalog, Access::Operator),
    route(
        "PUT",
        "/events/{event}/withdrawals/{withdrawal}",
        HttpFunction::Catalog,
        Access::Operator,
    ),
    route(
        "DELETE",
        "/events/{event}/withdrawals/{withdrawal}",
        HttpFunction::Catalog,
        Access::Operator,
    ),
    route("GET", "/events/{event}/seats", HttpFunction::Catalog, Access::Public),
    route("GET", "/events/{event}/seats/changes", HttpFunction::Catalog, Access::Public),
    route("GET", "/events/{event}/seats/{seat}/lock-status", HttpFunction::Catalog, Access::Public),
    route("GET", "/events/{event}/queue", HttpFunction::QueueAdmission, Access::Public),
    route("PUT", "/events/{event}/queue/settings", HttpFunction::QueueAdmission, Access::Operator),
    route("POST", "/events/{event}/queue/places", HttpFunction::QueueAdmission, Access::Fan),
    route("GET", "/events/{event}/queue/places/mine", HttpFunction::QueueAdmission, Access::Fan),
    route("DELETE", "/events/{event}/queue/places/mine", HttpFunction::QueueAdmission, Access::Fan),
    route(
        "POST",
        "/events/{event}/queue/places/mine/admission",
        HttpFunction::QueueAdmission,
        Access::Fan,
    ),
    route("POST", "/events/{event}/viewers", HttpFunction::QueueAdmission, Access::Public),
    route("GET", "/.well-known/jwks.json", HttpFunction::QueueAdmission, Access::Public),
    route("POST", "/events/{event}/orders", HttpFunction::Reservation, Access::Fan),
    route("GET", "/events/{event}/orders/{order}", HttpFunction::Orders, Access::Fan),
    route("GET", "/orders", HttpFunction::Orders, Access::Fan),
];

/// All routes as the gateway has them: whatever answers GET answers HEAD, the
/// same way and without the body.
pub fn gateway_routes() -> impl Iterator<Item = Route> {
    ROUTES.iter().flat_map(|route| {
        let head = (route.method == "GET").then_some(Route { method: "HEAD", ..*route });
        std::iter::once(*route).chain(head)
    })
}

/// The methods that a path has, in the table's order; none for an unknown path.
#[must_use]
pub fn allowed_methods(path: &str) -> Vec<Method> {
    gateway_routes()
        .filter(|route| matches(route.path, path))
        .filter_map(|route| Method::from_bytes(route.method.as_bytes()).ok())
        .collect()
}

fn matches(pattern: &str, path: &str) -> bool {
    let mut pattern = pattern.split('/');
    let mut path = path.split('/');
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some(expected), Some(given)) => {
                let is_parameter = expected.starts_with('{');
                if !(is_parameter && !given.is_empty() || expected == given) {
                    return false;
                }
            }
            (None, Some(_)) | (Some(_), None) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_path_tells_its_methods_and_an_unknown_one_none() {
        assert_eq!(allowed_methods("/events/e1"), [Method::GET, Method::HEAD, Method::PUT]);
        assert_eq!(allowed_methods("/events/e1/orders"), [Method::POST]);
        assert_eq!(allowed_methods("/events//orders"), Vec::<Method>::new());
        assert_eq!(allowed_methods("/events/e1/orders/"), Vec::<Method>::new());
        assert_eq!(allowed_methods("/nothing"), Vec::<Method>::new());
    }

    #[test]
    fn no_route_stands_twice() {
        let routes: Vec<Route> = gateway_routes().collect();
        for (at, route) in routes.iter().enumerate() {
            let again = |other: &Route| other.method == route.method && other.path == route.path;
            assert!(!routes[at + 1..].iter().any(again), "{} {}", route.method, route.path);
        }
    }

    #[test]
    fn every_get_has_its_head_with_the_same_function_and_access() {
        let of = |method| gateway_routes().filter(move |route| route.method == method);
        let heads = of("HEAD").map(|head| Route { method: "GET", ..head });
        assert!(heads.eq(of("GET")));
    }
}
