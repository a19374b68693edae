//! Reading replies as cheaply as possible: where each ends, and what it is.

/// What a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    /// A text of so many bytes.
    Text(usize),
    List,
    Nothing,
    Error,
}

/// The kind of the reply at the front of the bytes, and where the next begins;
/// none while it has not arrived whole.
pub(crate) fn next(bytes: &[u8]) -> Option<(Kind, usize)> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, body) = (&bytes[..end], end + 2);
    let (&mark, rest) = line.split_first()?;
    match mark {
        b':' => Some((Kind::Number, body)),
        b'-' => Some((Kind::Error, body)),
        b'+' => Some((Kind::Text(rest.len()), body)),
        b'$' => match length(rest) {
            None => Some((Kind::Nothing, body)),
            Some(length) => {
                let end = body + length + 2;
                (bytes.len() >= end).then_some((Kind::Text(length), end))
            }
        },
        _ => {
            let mut at = body;
            for _ in 0..length(rest).unwrap_or(0) {
                at += next(&bytes[at..])?.1;
            }
            Some((Kind::List, at))
        }
    }
}

/// A length; none stands for minus one: nothing is there.
fn length(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_ends_where_the_next_begins() {
        assert_eq!(next(b":12\r\n:3\r\n"), Some((Kind::Number, 5)));
        assert_eq!(next(b"$1\r\nS\r\n"), Some((Kind::Text(1), 7)));
        assert_eq!(next(b"$4\r\n\r\n\r\n\r\n"), Some((Kind::Text(4), 10)));
        assert_eq!(next(b"$-1\r\n"), Some((Kind::Nothing, 5)));
        assert_eq!(next(b"-ERR x\r\n"), Some((Kind::Error, 8)));
        assert_eq!(next(b"*2\r\n:1\r\n*1\r\n$1\r\na\r\n+OK\r\n"), Some((Kind::List, 19)));
    }

    #[test]
    fn half_a_reply_is_none() {
        for half in [&b"$4\r\nab"[..], b"*2\r\n:1\r\n", b":1\r", b""] {
            assert_eq!(next(half), None);
        }
    }
}
