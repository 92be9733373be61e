//! Expressions over whole numbers, in the subset that scripts need: Python's operators with their
//! precedence.

use std::fmt;

/// The maximum nesting of parentheses and signs, and the maximum number of operations.
const DEPTH: usize = 64;
const OPERATIONS: usize = 1000;

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expression {
    Number(i64),
    Name(String),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Operation(Box<Expression>, Operator, Box<Expression>),
    /// `a < b <= c`: 1 if each comparison is true.
    Comparisons(Box<Expression>, Vec<(Comparison, Expression)>),
}

/// Operators of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// The reasons why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoValue {
    /// The expression contains a name without a value.
    Unknown(String),
    /// The expression divides by zero, or its value does not fit in 64 bits.
    Undefined,
}

/// Operators by rank, from the weakest binding to the strongest. `not` and the comparisons have the
/// third rank.
const RANKS: [&[(&str, Operator)]; 9] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[],
    &[("|", Operator::BitOr)],
    &[("^", Operator::BitXor)],
    &[("&", Operator::BitAnd)],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("//", Operator::Divide), ("/", Operator::Divide), ("%", Operator::Modulo)],
];
const COMPARISON_RANK: usize = 2;

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Returns the value of an expression without names, or `None` if it has no value.
pub(crate) fn constant(text: &str) -> Option<i64> {
    let mut rest = text;
    let expression = read(&mut rest).ok()?;
    if rest.trim().is_empty() { expression.value(&|_| None).ok() } else { None }
}

/// Reads an expression from the start of `rest`. The error names the expected element.
pub(crate) fn read(rest: &mut &str) -> Result<Expression, String> {
    Reader { rest, depth: 0, operations: 0 }.rank(0)
}

struct Reader<'a, 'b> {
    rest: &'a mut &'b str,
    depth: usize,
    operations: usize,
}

impl Reader<'_, '_> {
    fn rank(&mut self, rank: usize) -> Result<Expression, String> {
        if rank == COMPARISON_RANK {
            return self.comparisons();
        }
        let Some(operators) = RANKS.get(rank) else { return self.operand() };
        let mut left = self.rank(rank + 1)?;
        while let Some(operator) = self.take_one(operators) {
            self.count()?;
            let right = self.rank(rank + 1)?;
            left = Expression::Operation(Box::new(left), operator, Box::new(right));
        }
        Ok(left)
    }

    fn comparisons(&mut self) -> Result<Expression, String> {
        if self.take("not") {
            return Ok(Expression::Not(Box::new(self.nested(Self::comparisons)?)));
        }
        let first = self.rank(COMPARISON_RANK + 1)?;
        let mut others = Vec::new();
        while let Some(comparison) = self.take_one(&COMPARISONS) {
            others.push((comparison, self.rank(COMPARISON_RANK + 1)?));
        }
        Ok(if others.is_empty() { first } else { Expression::Comparisons(Box::new(first), others) })
    }

    /// Counts an operation. The count is limited, because a deep tree cannot be evaluated.
    fn count(&mut self) -> Result<(), String> {
        self.operations += 1;
        if self.operations > OPERATIONS { Err(format!("found more than {OPERATIONS} operations")) } else { Ok(()) }
    }

    fn operand(&mut self) -> Result<Expression, String> {
        self.skip_blanks();
        if self.take("(") {
            let inner = self.nested(|reader| reader.rank(0))?;
            return if self.take(")") { Ok(inner) } else { Err(self.expected(")")) };
        }
        if self.take("-") {
            return Ok(Expression::Negative(Box::new(self.nested(Self::operand)?)));
        }
        let end =
            self.rest.find(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '_')).unwrap_or(self.rest.len());
        let (word, behind) = self.rest.split_at(end);
        let expression = match word.bytes().next() {
            None => return Err(self.expected("a number or a name")),
            Some(b'0'..=b'9') => {
                let hexadecimal = word.strip_prefix("0x").map(|digits| i64::from_str_radix(digits, 16));
                let number = hexadecimal.unwrap_or_else(|| word.parse());
                Expression::Number(number.map_err(|_| self.expected("a whole number"))?)
            }
            Some(_) => Expression::Name(word.to_owned()),
        };
        *self.rest = behind;
        Ok(expression)
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<Expression, String>) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(format!("found more than {DEPTH} nested parentheses"));
        }
        let inner = read(self);
        self.depth -= 1;
        inner
    }

    /// Consumes the next operator if it is one of `operators`.
    fn take_one<T: Copy>(&mut self, operators: &[(&str, T)]) -> Option<T> {
        operators.iter().find(|(sign, _)| self.take(sign)).map(|(_, operator)| *operator)
    }

    fn take(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        let Some(behind) = self.rest.strip_prefix(sign) else { return false };
        let goes_on = match sign {
            "<" | ">" => behind.starts_with(['<', '>']),
            _ if sign.bytes().all(|octet| octet.is_ascii_alphabetic()) => {
                behind.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
            }
            _ => false,
        };
        if !goes_on {
            *self.rest = behind;
        }
        !goes_on
    }

    fn skip_blanks(&mut self) {
        *self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn expected(&self, what: &str) -> String {
        let found = self.rest.split_whitespace().next().unwrap_or("the end");
        format!("found {found}, expected {what}")
    }
}

impl Expression {
    /// Returns the value of the expression. `names` returns the values of names. A comparison is 1
    /// if it is true, otherwise 0.
    pub(crate) fn value(&self, names: &dyn Fn(&str) -> Option<i64>) -> Result<i64, NoValue> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name) => match name.as_str() {
                "True" => 1,
                "False" | "None" => 0,
                _ => names(name).ok_or_else(|| NoValue::Unknown(name.clone()))?,
            },
            Self::Not(inner) => i64::from(inner.value(names)? == 0),
            Self::Negative(inner) => inner.value(names)?.checked_neg().ok_or(NoValue::Undefined)?,
            Self::Operation(left, operator, right) => operator.apply(left.value(names)?, right.value(names)?)?,
            Self::Comparisons(first, others) => {
                let mut left = first.value(names)?;
                for (comparison, other) in others {
                    let right = other.value(names)?;
                    if !comparison.holds(left, right) {
                        return Ok(0);
                    }
                    left = right;
                }
                1
            }
        })
    }

    /// Calls `to` with each name in the expression, from left to right.
    pub(crate) fn each_name<'a>(&'a self, to: &mut dyn FnMut(&'a str)) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => to(name),
            Self::Not(inner) | Self::Negative(inner) => inner.each_name(to),
            Self::Operation(left, _, right) => {
                left.each_name(to);
                right.each_name(to);
            }
            Self::Comparisons(first, others) => {
                first.each_name(to);
                others.iter().for_each(|(_, other)| other.each_name(to));
            }
        }
    }
}

impl Operator {
    fn apply(self, left: i64, right: i64) -> Result<i64, NoValue> {
        let shift = || u32::try_from(right).ok();
        let value = match self {
            Self::Or => Some(if left == 0 { right } else { left }),
            Self::And => Some(if left == 0 { left } else { right }),
            Self::BitOr => Some(left | right),
            Self::BitXor => Some(left ^ right),
            Self::BitAnd => Some(left & right),
            Self::ShiftLeft => shift().and_then(|shift| left.checked_shl(shift)),
            Self::ShiftRight => shift().and_then(|shift| left.checked_shr(shift)),
            Self::Plus => left.checked_add(right),
            Self::Minus => left.checked_sub(right),
            Self::Times => left.checked_mul(right),
            Self::Divide => left.checked_div_euclid(right),
            Self::Modulo => left.checked_rem_euclid(right),
        };
        value.ok_or(NoValue::Undefined)
    }
}

impl Comparison {
    const fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::Unequal => left != right,
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Greater => left > right,
            Self::AtLeast => left >= right,
        }
    }
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "the variable {name}"),
            Self::Undefined => f.write_str("a number that does not exist"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_have_their_rank() {
        for (text, value) in [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("15*1024*1024", 15_728_640),
            ("10 - 3 - 2", 5),
            ("7 // 2 + 7 % 4", 6),
            ("1 << 3 | 1", 9),
            ("6 & 3 == 2", 1),
            ("not 1 == 2 and 3 > 2", 1),
            ("1 < 2 <= 2 < 3", 1),
            ("1 < 2 < 2", 0),
            ("0 or 5", 5),
            ("0x7fffffff", 0x7fff_ffff),
            ("-2 + 5", 3),
        ] {
            assert_eq!(constant(text), Some(value), "{text}");
        }
    }

    #[test]
    fn expressions_without_a_value_are_refused() {
        for text in ["1 / 0", "9223372036854775807 + 1", "x", "1 +", "(1", "1 2", "1 << 99"] {
            assert_eq!(constant(text), None, "{text}");
        }
        assert!(constant(&"(".repeat(100_000)).is_none());
        assert!(constant(&"1+".repeat(100_000)).is_none());
    }

    #[test]
    fn names_are_looked_up() {
        let mut rest = "tcpi_snd_cwnd == 10, tcpi_snd_cwnd";
        let expression = read(&mut rest).unwrap();
        assert_eq!(expression.value(&|name| (name == "tcpi_snd_cwnd").then_some(10)), Ok(1));
        assert_eq!(expression.value(&|_| None), Err(NoValue::Unknown("tcpi_snd_cwnd".to_owned())));
        assert_eq!(rest, ", tcpi_snd_cwnd");
    }
}
