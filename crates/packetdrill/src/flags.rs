//! The letters of TCP's flags, and the digit of the ACE field (`tcp_packet.c`).

use acklab_wire::tcp::Flags;

/// The letters, in the order in which they are written.
const LETTERS: [(char, Flags); 9] = [
    ('F', Flags::FIN),
    ('S', Flags::SYN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
    ('U', Flags::URG),
    ('.', Flags::ACK),
];

/// The flags of the ACE field (RFC 9768, §3.2.2).
pub(crate) const ACE: Flags = Flags::from_ace(0b111);

/// Returns the flags that `text` names, and `true` if it contains the ACE field as a digit. Returns
/// `None` if `text` is not a list of flags.
pub(crate) fn read(text: &str) -> Option<(Flags, bool)> {
    let mut flags = Flags::NONE;
    let mut ace = None;
    for sign in text.chars() {
        if let Some(digit) = sign.to_digit(8) {
            if ace.replace(digit as u8).is_some() {
                return None;
            }
        } else {
            let (_, flag) = LETTERS.iter().find(|(letter, _)| *letter == sign)?;
            flags = flags | *flag;
        }
    }
    match ace {
        Some(_) if flags.intersects(ACE) => None,
        Some(ace) => Some((flags | Flags::from_ace(ace), true)),
        None => Some((flags, false)),
    }
}

/// Returns the letters of `flags`, with the ACE field as a digit if `as_digit`; `-` for none.
pub(crate) fn letters(flags: Flags, as_digit: bool) -> String {
    let spelled = if as_digit { flags.with(ACE, false) } else { flags };
    let mut text: String =
        LETTERS.iter().filter(|(_, flag)| spelled.contains(*flag)).map(|(letter, _)| *letter).collect();
    if as_digit {
        text.push(char::from(b'0' + flags.ace()));
    }
    if text.is_empty() { "-".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_the_digit_are_two_spellings() {
        assert_eq!(read("SEWA"), Some((Flags::SYN | ACE, false)));
        assert_eq!(read("P.5"), Some((Flags::PSH | Flags::ACK | Flags::AE | Flags::ECE, true)));
        assert_eq!(read(""), Some((Flags::NONE, false)));
        for wrong in ["X", ".55", "E.5", ".8"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["S", "S.", "SEWA", "FP.", "P.5", ".0", "EA."] {
            let (flags, has_ace) = read(text).unwrap();
            assert_eq!(read(&letters(flags, has_ace)), Some((flags, has_ace)), "{text}");
        }
        assert_eq!(letters(Flags::NONE, false), "-");
    }
}
