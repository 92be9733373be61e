//! Generates the delegation of a contract to the strategies of a registry.

/// Declares a contract (a trait), and generates the macro `$delegate!(Type, each)`. The macro
/// implements the contract for an enum of a [`registry!`](crate::registry!): each method of the
/// enum calls the method of the variant. So a new method is written only once.
///
/// A method is written as in any trait. `@inline` before `fn` marks its delegation for inlining.
#[macro_export]
macro_rules! contract {
    ($(#[$meta:meta])* $vis:vis trait $Trait:ident, delegated by $delegate:ident { $($methods:tt)* }) => {
        $crate::contract!(@method [$(#[$meta])* $vis] $Trait $delegate [] [] $($methods)*);
    };

    (@method $head:tt $Trait:ident $delegate:ident [$($trait:tt)*] [$($delegated:tt)*]
        $(#[$doc:meta])* $(@$inline:ident)? fn $name:ident(&mut $self:ident $(, $arg:ident: $Arg:ty)* $(,)?)
        $(-> $Ret:ty)? $body:block $($rest:tt)*) => {
        $crate::contract!(@method $head $Trait $delegate
            [$($trait)* $(#[$doc])* fn $name(&mut $self $(, $arg: $Arg)*) $(-> $Ret)? $body]
            [$($delegated)* { [$($inline)?] $name [&mut $self] $self [$($arg: $Arg),*] [$(-> $Ret)?] }]
            $($rest)*);
    };
    (@method $head:tt $Trait:ident $delegate:ident [$($trait:tt)*] [$($delegated:tt)*]
        $(#[$doc:meta])* $(@$inline:ident)? fn $name:ident(&mut $self:ident $(, $arg:ident: $Arg:ty)* $(,)?)
        $(-> $Ret:ty)?; $($rest:tt)*) => {
        $crate::contract!(@method $head $Trait $delegate
            [$($trait)* $(#[$doc])* fn $name(&mut $self $(, $arg: $Arg)*) $(-> $Ret)?;]
            [$($delegated)* { [$($inline)?] $name [&mut $self] $self [$($arg: $Arg),*] [$(-> $Ret)?] }]
            $($rest)*);
    };
    (@method $head:tt $Trait:ident $delegate:ident [$($trait:tt)*] [$($delegated:tt)*]
        $(#[$doc:meta])* $(@$inline:ident)? fn $name:ident(&$self:ident $(, $arg:ident: $Arg:ty)* $(,)?)
        $(-> $Ret:ty)? $body:block $($rest:tt)*) => {
        $crate::contract!(@method $head $Trait $delegate
            [$($trait)* $(#[$doc])* fn $name(&$self $(, $arg: $Arg)*) $(-> $Ret)? $body]
            [$($delegated)* { [$($inline)?] $name [&$self] $self [$($arg: $Arg),*] [$(-> $Ret)?] }]
            $($rest)*);
    };
    (@method $head:tt $Trait:ident $delegate:ident [$($trait:tt)*] [$($delegated:tt)*]
        $(#[$doc:meta])* $(@$inline:ident)? fn $name:ident(&$self:ident $(, $arg:ident: $Arg:ty)* $(,)?)
        $(-> $Ret:ty)?; $($rest:tt)*) => {
        $crate::contract!(@method $head $Trait $delegate
            [$($trait)* $(#[$doc])* fn $name(&$self $(, $arg: $Arg)*) $(-> $Ret)?;]
            [$($delegated)* { [$($inline)?] $name [&$self] $self [$($arg: $Arg),*] [$(-> $Ret)?] }]
            $($rest)*);
    };

    (@method [$($head:tt)*] $Trait:ident $delegate:ident [$($trait:tt)*]
        [$({ [$($inline:ident)?] $name:ident [$($receiver:tt)*] $self:ident [$($arg:ident: $Arg:ty),*] [$($Ret:tt)*] })*]
    ) => {
        $($head)* trait $Trait {
            $($trait)*
        }

        /// Implements the contract for an enum of a registry.
        macro_rules! $delegate {
            ($Type:ident, $each:ident) => {
                impl $Trait for $Type {
                    $(
                        $(#[$inline])?
                        fn $name($($receiver)* $(, $arg: $Arg)*) $($Ret)* {
                            $each!($self, strategy => strategy.$name($($arg),*))
                        }
                    )*
                }
            };
        }
        pub(crate) use $delegate;
    };
}
