//! The nearest `f64` of a short decimal, for the hot path.
//!
//! Latencies and rates are written with 16 or 17 digits, too many for the exact path (a mantissa of 53 bits divided by a
//! power of ten). General float parsers read their digits a second time; here the digits that are already read go
//! through the Eisel-Lemire multiplication: Daniel Lemire, "Number Parsing at a Gigabyte per Second", 2021, sections 5
//! and 6; tie rule and constants as in <https://github.com/fastfloat/fast_float>.

/// The largest whole number up to which every whole number is an `f64`.
const EXACT_F64: u64 = 1 << 53;

/// Most decimals that [`nearest`] takes.
pub(super) const MAX_DECIMALS: usize = 22;

/// Powers of ten that an `f64` holds exactly. Dividing an exact mantissa by one of them rounds once, so that the
/// quotient is the nearest `f64` (Clinger 1990).
const POW10: [f64; MAX_DECIMALS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// 128 bits of 1/5^k, the first bit set, rounded up; from exact long division.
const RECIPROCALS: [u128; MAX_DECIMALS + 1] = reciprocals();

const fn reciprocals() -> [u128; MAX_DECIMALS + 1] {
    let mut table = [1u128 << 127; MAX_DECIMALS + 1];
    let mut five = 1u64;
    let mut k = 1;
    while k <= MAX_DECIMALS {
        five *= 5;
        let mut bits = (64 - five.leading_zeros()) + 127;
        let (mut quotient, mut rest) = (0u128, 1u64);
        while bits > 0 {
            rest *= 2;
            quotient <<= 1;
            if rest >= five {
                rest -= five;
                quotient |= 1;
            }
            bits -= 1;
        }
        table[k] = quotient + 1;
        k += 1;
    }
    table
}

/// `mantissa` / 10^`decimals`, rounded to the nearest `f64`, of two equally near ones to the even. `None` for more than
/// [`MAX_DECIMALS`].
#[inline]
pub(super) fn nearest(mantissa: u64, decimals: usize) -> Option<f64> {
    let scale = POW10.get(decimals)?;
    if mantissa <= EXACT_F64 {
        return Some(mantissa as f64 / scale);
    }
    if decimals == 0 {
        return Some(mantissa as f64);
    }
    Some(multiply(mantissa, *RECIPROCALS.get(decimals)?, decimals))
}

/// Eisel-Lemire for a mantissa of more than 53 bits and 1 to 22 decimals: then the result is normal, and the product of
/// 128 bits always decides how to round (section 6).
fn multiply(mantissa: u64, reciprocal: u128, decimals: usize) -> f64 {
    // The bits below those that are kept and the two that round.
    const BELOW: u64 = u64::MAX >> 55;
    let zeros = mantissa.leading_zeros();
    let wide = u128::from(mantissa << zeros);
    let mut product = wide * (reciprocal >> 64);
    if (product >> 64) as u64 & BELOW == BELOW {
        product += (wide * (reciprocal & u128::from(u64::MAX))) >> 64;
    }
    let (low, high) = (product as u64, (product >> 64) as u64);
    let upper = (high >> 63) as u32;
    let shift = upper + 64 - 52 - 3;
    let mut kept = high >> shift;
    // log2(10) as 217706 / 2^16, rounded down, is exact in this range.
    let power = ((-(decimals as i64) * 217_706) >> 16) + 63;
    let mut exponent = power + i64::from(upper) - i64::from(zeros) + 1023;
    // Halfway between two values, which only few decimals can be: round to the even one.
    if low <= 1 && decimals <= 4 && kept & 3 == 1 && kept << shift == high {
        kept &= !1;
    }
    kept = (kept + (kept & 1)) >> 1;
    if kept >= 1 << 53 {
        kept = 1 << 52;
        exponent += 1;
    }
    f64::from_bits((kept & !(1 << 52)) | exponent.cast_unsigned() << 52)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the nearest value is one value")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn standard(mantissa: u64, decimals: usize) -> f64 {
        format!("{mantissa}e-{decimals}").parse().unwrap()
    }

    #[test]
    fn ties_and_edges_round_as_the_standard_library_does() {
        for mantissa in [
            0,
            1,
            EXACT_F64,
            EXACT_F64 + 1,
            EXACT_F64 + 3,
            9_007_199_254_740_995,
            90_071_992_547_409_925,
            45_035_996_273_704_965,
            4_503_599_627_370_497_5,
            u64::MAX,
            u64::MAX - 1,
            9_999_999_999_999_999_999,
            1 << 63,
        ] {
            for decimals in 0..=MAX_DECIMALS {
                assert_eq!(
                    nearest(mantissa, decimals).unwrap(),
                    standard(mantissa, decimals),
                    "{mantissa}e-{decimals}"
                );
            }
        }
        assert_eq!(nearest(1, MAX_DECIMALS + 1), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn any_decimal_is_the_nearest(mantissa in any::<u64>(), decimals in 0..=MAX_DECIMALS) {
            prop_assert_eq!(nearest(mantissa, decimals).unwrap(), standard(mantissa, decimals));
        }

        #[test]
        fn printed_floats_come_back(value in 0.0f64..1.0, scale in 0i32..6) {
            let value = value * 10f64.powi(scale);
            let text = format!("{value}");
            let digits = text.replace('.', "");
            let decimals = text.split_once('.').map_or(0, |(_, d)| d.len());
            if let Ok(mantissa) = digits.parse::<u64>() && decimals <= MAX_DECIMALS {
                prop_assert_eq!(nearest(mantissa, decimals), Some(value));
            }
        }

        #[test]
        fn halfway_cases_are_even(odd in (1u64 << 53)..(1u64 << 54), decimals in 1usize..5) {
            // An odd 54-bit whole number lies halfway between two values.
            let half = odd | 1;
            let power = 10u64.pow(decimals as u32);
            if let Some(mantissa) = half.checked_mul(power) {
                prop_assert_eq!(nearest(mantissa, decimals).unwrap(), half as f64);
            }
        }
    }
}
