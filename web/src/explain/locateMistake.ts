export interface Mistake {
  /** Counted from 1, as editors do; columns in UTF-16 units. */
  readonly line: number
  readonly column: number
  /** What JSON has in this place. */
  readonly expected: string
}

type Expected = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'next' | 'nothing'

const expectations: Readonly<Record<Expected, string>> = {
  value: 'a value',
  'first value': 'a value or ]',
  name: 'a name in double quotes',
  'first name': 'a name in double quotes or }',
  colon: 'a colon',
  next: 'a comma or the closing bracket',
  nothing: 'nothing more',
}

const space = /[ \t\n\r]*/y
const text = /"(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/**
 * Where a text stops to be JSON; null if it is JSON. Browsers say that in words of their own, and some say no place. It
 * holds what is open in a list: a text of brackets alone needs no deep stack.
 */
export const locateMistake = (json: string): Mistake | null => {
  const open: string[] = []
  let at = 0
  let expected: Expected = 'value'

  const take = (form: RegExp): boolean => {
    form.lastIndex = at
    const found = form.exec(json)
    // A text with a line end or another control character is none; outside of texts no form has one.
    if (found === null || (form === text && hasControl(found[0]))) return false
    at += found[0].length
    return true
  }
  const afterValue = (): Expected => (open.length === 0 ? 'nothing' : 'next')
  const close = (): Expected => {
    open.pop()
    at += 1
    return afterValue()
  }
  const takeValue = (): Expected | null => {
    const next = json[at]
    if (next === '{' || next === '[') {
      open.push(next === '{' ? '}' : ']')
      at += 1
      return next === '{' ? 'first name' : 'first value'
    }
    return take(text) || take(scalar) ? afterValue() : null
  }
  const step = (): Expected | null => {
    const next = json[at]
    if (expected === 'nothing') return null
    if (expected === 'colon') {
      at += 1
      return next === ':' ? 'value' : null
    }
    if (expected === 'next') {
      if (next === open.at(-1)) return close()
      at += 1
      if (next !== ',') return null
      return open.at(-1) === '}' ? 'name' : 'value'
    }
    if (expected === 'name' || expected === 'first name') {
      if (expected === 'first name' && next === '}') return close()
      return take(text) ? 'colon' : null
    }
    return expected === 'first value' && next === ']' ? close() : takeValue()
  }

  for (;;) {
    take(space)
    if (at >= json.length && expected === 'nothing') return null
    const begun = at
    const followed = at < json.length ? step() : null
    if (followed === null) return { ...placeOf(json, begun), expected: expectations[expected] }
    expected = followed
  }
}

const hasControl = (content: string): boolean => [...content].some((character) => character < ' ')

const placeOf = (json: string, at: number): Pick<Mistake, 'line' | 'column'> => {
  const before = json.slice(0, at).split(/\r\n|\n|\r/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
