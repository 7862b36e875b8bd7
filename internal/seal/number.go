package seal

import "strconv"

// maxExponent is how many digits an exponent may have, leading zeros aside: what fits an int64 with room for the digits
// that move across the point.
const maxExponent = 18

// number appends a number as an exact decimal: the sign, the digits without zeros at either end, and, unless it is zero,
// the power of ten they are multiplied by. Nothing is ever expanded: 1e400 is "1e400", and 1000 is "1e3".
func (c *canon) number() error {
	negative := c.src[c.i] == '-'
	if negative {
		c.i++
	}
	whole := c.digits()
	var fraction []byte
	if c.i < len(c.src) && c.src[c.i] == '.' {
		c.i++
		if fraction = c.digits(); len(fraction) == 0 {
			return c.fail("not a JSON number")
		}
	}
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return c.fail("not a JSON number")
	}
	exponent, digits, err := c.exponent()
	if err != nil {
		return err
	}
	at := len(c.out)
	c.decimal(negative, whole, fraction, exponent)
	if digits > maxExponent && string(c.out[at:]) != "0" {
		return c.fail("the exponent of a number has more than " + strconv.Itoa(maxExponent) + " digits; write the number in a shorter way")
	}
	return nil
}

// digits reads as many as there are.
func (c *canon) digits() []byte {
	start := c.i
	for c.i < len(c.src) && '0' <= c.src[c.i] && c.src[c.i] <= '9' {
		c.i++
	}
	return c.src[start:c.i]
}

// exponent reads the part behind the digits, if there is one. It also answers how many digits it has; the value counts only
// when they are not too many.
func (c *canon) exponent() (value int64, digits int, err error) {
	if c.i >= len(c.src) || c.src[c.i]|0x20 != 'e' {
		return 0, 0, nil
	}
	c.i++
	sign := int64(1)
	if c.i < len(c.src) && (c.src[c.i] == '+' || c.src[c.i] == '-') {
		if c.src[c.i] == '-' {
			sign = -1
		}
		c.i++
	}
	text := c.digits()
	if len(text) == 0 {
		return 0, 0, c.fail("not a JSON number")
	}
	text = trimLeft(text)
	if len(text) > maxExponent {
		return 0, len(text), nil
	}
	for _, d := range text {
		value = value*10 + int64(d-'0')
	}
	return sign * value, len(text), nil
}

func (c *canon) decimal(negative bool, whole, fraction []byte, exponent int64) {
	exponent -= int64(len(fraction))
	if fraction, whole = c.trim(fraction, whole, &exponent); len(whole)+len(fraction) == 0 {
		c.out = append(c.out, '0') // -0 too
		return
	}
	if negative {
		c.out = append(c.out, '-')
	}
	c.out = append(c.out, whole...)
	c.out = append(c.out, fraction...)
	if exponent != 0 {
		c.out = append(c.out, 'e')
		c.out = strconv.AppendInt(c.out, exponent, 10)
	}
}

// trim takes the zeros from both ends of whole and fraction, read as one row of digits; those at the end go into the exponent.
func (c *canon) trim(fraction, whole []byte, exponent *int64) (restFraction, restWhole []byte) {
	before := len(fraction)
	fraction = trimRight(fraction)
	*exponent += int64(before - len(fraction))
	if len(fraction) == 0 {
		before = len(whole)
		whole = trimRight(whole)
		*exponent += int64(before - len(whole))
	}
	if whole = trimLeft(whole); len(whole) == 0 {
		fraction = trimLeft(fraction)
	}
	return fraction, whole
}

func trimLeft(digits []byte) []byte {
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}

func trimRight(digits []byte) []byte {
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits
}
