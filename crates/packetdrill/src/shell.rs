//! Commands between backticks. No command is executed. Commands that set variables of TCP become
//! [`Order`]s. Commands without an effect on acklab are ignored. Any other command puts the script
//! out of scope.

use crate::expression;
use crate::refusal::Refusal;

/// Finds the text of a command file by its name in a script.
pub type Include<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// The maximum nesting of included files.
const DEPTH: usize = 4;

/// The key of the [`Order`] that makes the device refuse outgoing packets (1), or accept them again
/// (0).
pub(crate) const REFUSES: &str = "device refuses";

/// A variable of the kernel, or an attribute of the route, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The line of the script with the command.
    pub line: usize,
    /// The name, such as `net.ipv4.tcp_sack`, or `initcwnd` for the attribute of the route.
    pub key: String,
    /// The value.
    pub value: String,
}

/// Returns the variables set by the commands in `text`, which begin on `line`.
pub(crate) fn orders(line: usize, text: &str, include: &Include<'_>) -> Result<Vec<Order>, Refusal> {
    let mut orders = Vec::new();
    let mut reader = Reader { include, orders: &mut orders, depth: 0, reads_counters: false };
    reader.read(text, &|before| line + before.matches('\n').count())?;
    Ok(orders)
}

struct Reader<'a> {
    include: &'a Include<'a>,
    orders: &'a mut Vec<Order>,
    depth: usize,
    /// `true` if the previous command was `nstat`, or searched the output of `nstat`.
    reads_counters: bool,
}

impl Reader<'_> {
    /// Reads commands. `line_of` returns the line of the script from the text before a command.
    fn read(&mut self, text: &str, line_of: &dyn Fn(&str) -> usize) -> Result<(), Refusal> {
        for (at, command) in commands(text) {
            let line = line_of(&text[..at]);
            let (words, target) = words(command);
            if let Some((first, arguments)) = words.split_first() {
                self.command(line, first, arguments, &target)?;
                self.reads_counters = first == "nstat" || (self.reads_counters && first == "grep");
            }
        }
        Ok(())
    }

    /// Reads a command whose output is written to the file `target`, if any.
    fn command(&mut self, line: usize, first: &str, arguments: &[String], target: &str) -> Result<(), Refusal> {
        let name = first.rsplit('/').next().unwrap_or(first);
        let is = |words: &[&str]| {
            arguments.iter().map(String::as_str).zip(words).filter(|(a, b)| a == *b).count() == words.len()
        };
        match name {
            "sysctl" => {
                let settings = arguments.iter().filter(|word| !word.starts_with('-'));
                settings.into_iter().try_for_each(|setting| self.set(line, setting))
            }
            "set_sysctls.py" => arguments.iter().try_for_each(|setting| self.set(line, setting)),
            // Another script writes this file in order to restore variables.
            _ if name.starts_with("sysctl_restore_") => Ok(()),
            _ if name.ends_with(".sh") => self.include_file(line, first),
            // `echo 3 > /sys/module/…`
            "echo" => self.set(line, &format!("{target}={}", arguments.join(" "))),
            "ip" if is(&["tcp_metrics", "flush"]) => Ok(()),
            "ip" if is(&["route"]) => self.route(line, arguments),
            // This is the queue of the device, in which no packet of a script waits. fq paces
            // outgoing packets.
            "tc" if arguments.iter().any(|word| word == "fq") => self.set(line, "fq=1"),
            // A queue of length zero: the device refuses all outgoing packets until the queue is
            // replaced or deleted.
            "tc" if arguments.ends_with(&["pfifo".to_owned(), "limit".to_owned(), "0".to_owned()]) => {
                self.set(line, &format!("{REFUSES}=1"))
            }
            "tc" if is(&["qdisc", "delete"]) || is(&["qdisc", "del"]) => self.set(line, &format!("{REFUSES}=0")),
            "tc" if !arguments.iter().any(|word| word == "limit") && arguments.iter().any(|word| word == "pfifo") => {
                Ok(())
            }
            // These are segmentation offload, and the counters of the kernel, which are not
            // compared.
            "ethtool" | "nstat" | "true" => Ok(()),
            "grep" if self.reads_counters => Ok(()),
            _ => Err(Refusal::out_of_scope(
                line,
                format!("the command {first} {}", arguments.join(" ")).trim_end().to_owned(),
            )),
        }
    }

    fn set(&mut self, line: usize, setting: &str) -> Result<(), Refusal> {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Refusal::malformed(line, format!("found {setting}, expected VARIABLE=VALUE")));
        };
        let folders = ["/proc/sys/", "/sys/module/"];
        let key = folders.iter().find_map(|folder| key.strip_prefix(folder)).unwrap_or(key).replace('/', ".");
        self.orders.push(Order { line, key, value: value.to_owned() });
        Ok(())
    }

    fn include_file(&mut self, line: usize, name: &str) -> Result<(), Refusal> {
        let Some(text) = (self.include)(name) else {
            return Err(Refusal::malformed(line, format!("cannot read {name}, expected a file beside the script")));
        };
        if self.depth == DEPTH {
            return Err(Refusal::malformed(
                line,
                format!("{name} includes itself, or files are nested more than {DEPTH} deep"),
            ));
        }
        self.depth += 1;
        let done = self.read(&text, &|_| line);
        self.depth -= 1;
        done
    }

    /// `ip route change … initcwnd 20`. acklab supports only the attribute of the initial window.
    fn route(&mut self, line: usize, arguments: &[String]) -> Result<(), Refusal> {
        const HARMLESS: [&str; 2] = ["via", "dev"];
        let mut words = arguments.iter().skip(3);
        while let Some(word) = words.next() {
            let value = words.next().map_or("", String::as_str);
            if word == "initcwnd" {
                self.orders.push(Order { line, key: word.clone(), value: value.to_owned() });
            } else if !HARMLESS.contains(&word.as_str()) {
                return Err(Refusal::out_of_scope(line, format!("the attribute {word} of a route")));
            }
        }
        Ok(())
    }
}

/// Returns the commands of `text`, each with the offset at which it begins, without comments.
fn commands(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut start, mut quote, mut in_comment, mut before) = (0, None, false, ' ');
    for (at, sign) in text.char_indices() {
        match (sign, quote) {
            ('\n', _) if in_comment => (in_comment, start) = (false, at + 1),
            _ if in_comment => {}
            ('"' | '\'', None) => quote = Some(sign),
            (_, Some(mark)) if sign == mark => quote = None,
            ('\n', None) if before == '\\' => {}
            ('#', None) if before.is_whitespace() => {
                found.push((start, &text[start..at]));
                in_comment = true;
            }
            ('\n' | ';' | '|' | '&', None) if !(sign == '&' && before == '>') => {
                found.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
        before = sign;
    }
    if !in_comment {
        found.push((start, &text[start..]));
    }
    found
}

/// Returns the words of a command, and the file to which its output is written. `$((…))` is
/// replaced by its value.
fn words(command: &str) -> (Vec<String>, String) {
    let mut words = Vec::new();
    let (mut word, mut quote, mut has_word) = (String::new(), None, false);
    let mut rest = command;
    while let Some(sign) = rest.chars().next() {
        if let Some(inside) = rest.strip_prefix("$((")
            && let Some((sum, behind)) = inside.split_once("))")
        {
            word.push_str(&expression::constant(sum).map_or_else(|| sum.to_owned(), |value| value.to_string()));
            (rest, has_word) = (behind, true);
            continue;
        }
        rest = &rest[sign.len_utf8()..];
        match (sign, quote) {
            ('"' | '\'', None) => (quote, has_word) = (Some(sign), true),
            (_, Some(mark)) if sign == mark => quote = None,
            ('\\', None) if rest.starts_with('\n') => {}
            (_, None) if sign.is_whitespace() => {
                if std::mem::take(&mut has_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => {
                word.push(sign);
                has_word = true;
            }
        }
    }
    if has_word {
        words.push(word);
    }
    let redirection = words.iter().position(|word| word.contains('>')).unwrap_or(words.len());
    let target = words.split_off(redirection).concat();
    (words, target.trim_start_matches(['1', '>']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Vec<(String, String)> {
        let include = |name: &str| {
            (name == "../common/defaults.sh").then(|| "#!/bin/sh\nsysctl -q a=1 b=2 >/dev/null\n".to_owned())
        };
        orders(1, text, &include).unwrap().into_iter().map(|order| (order.key, order.value)).collect()
    }

    fn pair(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn variables_are_collected_from_files_and_commands() {
        let text = "../common/defaults.sh\n../common/set_sysctls.py /proc/sys/net/ipv4/x=3 \\\n /proc/sys/net/ipv4/y=\"4096 4\"";
        let expected = [pair("a", "1"), pair("b", "2"), pair("net.ipv4.x", "3"), pair("net.ipv4.y", "4096 4")];
        assert_eq!(set(text), expected);
        assert_eq!(set("sysctl -q m=\"4 $((15*1024))\" # comment; not=this"), [pair("m", "4 15360")]);
        assert_eq!(set("ip route change 192.0.2.1 via 10.0.0.1 dev tun0 initcwnd 20"), [pair("initcwnd", "20")]);
        assert_eq!(set("tc qdisc delete dev tun0 root 2>/dev/null"), [pair(REFUSES, "0")]);
        assert_eq!(set("tc qdisc add dev tun0 root pfifo limit 0"), [pair(REFUSES, "1")]);
        assert_eq!(set("ip tcp_metrics flush all > /dev/null 2>&1\n/tmp/sysctl_restore_${PPID}.sh"), []);
    }

    #[test]
    fn orders_know_their_line() {
        let lines: Vec<usize> =
            orders(3, "sysctl -q a=1\n\nsysctl -q b=2", &|_| None).unwrap().iter().map(|order| order.line).collect();
        assert_eq!(lines, [3, 5]);
    }

    #[test]
    fn other_commands_are_out_of_scope() {
        for text in
            ["rm -rf x", "tc qdisc replace dev tun0 root pfifo limit 5", "ip route change a via b mtu lock 1500"]
        {
            let refusal = orders(7, text, &|_| None).unwrap_err();
            assert_eq!((refusal.kind, refusal.line), (crate::refusal::Kind::OutOfScope, 7), "{text}");
        }
    }

    #[test]
    fn a_file_that_includes_itself_is_refused() {
        assert!(orders(1, "./a.sh", &|_| Some("./a.sh".to_owned())).is_err());
    }
}
