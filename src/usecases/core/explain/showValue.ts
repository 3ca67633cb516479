import { maxShownLength } from '../../../protocol/explanations.js'
import { isFields } from '../../../protocol/fields.js'

/** Untrusted content in one line of visible ASCII, which no page or terminal takes for anything else. */
export const showValue = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  return shorten(escapeText(toText(value)))
}

const toText = (value: unknown): string => {
  if (typeof value === 'string') return value === '' ? '""' : value
  if (typeof value === 'bigint') return value.toString()
  try {
    return JSON.stringify(value) ?? typeof value
  } catch {
    return 'a value that is nested too deeply'
  }
}

// No more of a text is escaped than can be shown.
const escapeText = (text: string): string =>
  text
    .slice(0, maxShownLength + 1)
    .replaceAll(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const shorten = (text: string): string =>
  text.length <= maxShownLength ? text : `${text.slice(0, maxShownLength - 3)}...`

/** Of a JSON path such as `paymentPayload.accepted.amount`; undefined where nothing is there. */
const findAt = (body: unknown, path: string): unknown => {
  let value: unknown = body
  for (const name of path.split('.')) {
    value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return value
}

/** What is at a path, or beside it under a name that differs in case, hyphens or underscores only. */
export const describeAt = (body: unknown, path: string): string => {
  const value = findAt(body, path)
  if (value !== undefined) return showValue(value)
  const cut = path.lastIndexOf('.')
  const [parent, name] = cut < 0 ? [body, path] : [findAt(body, path.slice(0, cut)), path.slice(cut + 1)]
  const isSimilar = (key: string) => key !== name && fold(key) === fold(name)
  const similar = isFields(parent) ? Object.keys(parent).find(isSimilar) : undefined
  return similar === undefined ? 'nothing' : showValue(`nothing, but ${similar}`)
}

const fold = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')
