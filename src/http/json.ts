import { isUtf8 } from 'node:buffer'
import { AppError } from '../errors.js'

/** The deepest nesting of objects and arrays that a body may have. */
export const maxJsonDepth = 32

/**
 * The most keys and array elements that a body may have in all; an empty object or array counts as having one. Reading,
 * validating and fingerprinting take time for each of them, not for each byte: 64 kB can hold 30,000. A payment has some
 * 40, and a JSON Schema about one for every 30 bytes, so that 64 kB of it pass.
 */
export const maxJsonValues = 2_000

/**
 * Reads a JSON body as `JSON.parse` does, and refuses what two readers could understand differently: bytes
 * that are not UTF-8, a key that stands twice in one object (however it is escaped), keys that reach for a
 * prototype, nesting deeper than `maxJsonDepth`, and more than `maxJsonValues` keys and elements, before any of it is
 * parsed. Throws INVALID_REQUEST with the path of the key.
 */
export const readJson = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw refuse('The body is not valid UTF-8')
  const text = decode(bytes)
  if (text.length === 0) throw refuse('The body is empty; a JSON object is expected')
  const plain = readPlainly(text)
  if (plain !== undefined) return plain
  const flaw = findFlaw(text)
  if (flaw !== null) throw refuse(flaw)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refuse(`The body is not valid JSON${describePosition(error)}`)
  }
}

/**
 * What most clients send, at half the cost of the closer look; undefined for everything that needs it. Without
 * backslashes and without space between a key and its colon, every key ends in `":`, and so does nothing else: a
 * value has as many keys as its text says, unless one of them stands there twice.
 */
const readPlainly = (text: string): unknown => {
  if (text.includes('\\') || text.includes('proto') || spaceAfterQuote.test(text)) return undefined
  const containers = count(text, '{', maxJsonDepth) + count(text, '[', maxJsonDepth)
  if (containers > maxJsonDepth || hasManyValues(text, containers)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return countKeys(value) === count(text, '":', maxJsonValues) ? value : undefined
  } catch {
    return undefined
  }
}

/** Every value but the root stands behind a bracket or a comma, and between two commas is at least one character. */
const hasManyValues = (text: string, containers: number): boolean =>
  containers + text.length / 2 > maxJsonValues && containers + count(text, ',', maxJsonValues) > maxJsonValues

const spaceAfterQuote = /"[ \t\r\n]/

/** How often a part stands in a text; counts no further than one more than `most`. */
const count = (text: string, part: string, most: number): number => {
  let found = 0
  for (let at = text.indexOf(part); at !== -1 && found <= most; at = text.indexOf(part, at + 1)) found += 1
  return found
}

const countKeys = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  let keys = inner === value ? 0 : inner.length
  for (const each of inner) if (typeof each === 'object') keys += countKeys(each)
  return keys
}

const refuse = (message: string): AppError => new AppError('INVALID_REQUEST', message)

const decode = (bytes: Buffer): string => {
  const text = bytes.toString('utf8')
  // RFC 8259, section 8.1: a reader may ignore a byte order mark, which some platforms still write.
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
}

const byteOrderMark = 0xfeff

/** V8's own sentence quotes the body; only the position in it is ours to repeat. */
const describePosition = (error: unknown): string => {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  return position === undefined ? '' : ` (at character ${Number(position) + 1})`
}

/** An open object or array. */
interface Frame {
  /** The keys seen so far; null in an array. */
  readonly keys: Set<string> | null
  /** The key whose value is being read. */
  key: string
  /** The position of the element that is being read, in an array. */
  index: number
  /** Whether the next string is a key. */
  expectsKey: boolean
}

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * One pass over the text that looks at nothing but brackets, commas and strings. On text that is no JSON it
 * may find nothing: the parser, which runs afterwards, has the last word on syntax.
 */
const findFlaw = (text: string): string | null => {
  const frames: Frame[] = []
  let frame: Frame | undefined
  let values = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === quote) {
      const end = findStringEnd(text, at + 1)
      if (end === -1) return null
      if (frame?.expectsKey) {
        const key = readKey(text, at + 1, end)
        if (key === null) return null
        const flaw = findKeyFlaw(frames, frame, key)
        if (flaw !== null) return flaw
        frame.key = key
        frame.expectsKey = false
      }
      at = end
    } else if (character === openBrace || character === openBracket) {
      if (frames.length === maxJsonDepth) {
        return `The body is nested deeper than ${maxJsonDepth} levels${describePlace(frames)}`
      }
      values += 1
      const isObject = character === openBrace
      frame = { keys: isObject ? new Set() : null, key: '', index: 0, expectsKey: isObject }
      frames.push(frame)
    } else if (character === closeBrace || character === closeBracket) {
      frames.pop()
      frame = frames[frames.length - 1]
    } else if (character === comma && frame !== undefined) {
      values += 1
      if (frame.keys === null) frame.index += 1
      else frame.expectsKey = true
    }
    if (values > maxJsonValues) return `The body has more than ${maxJsonValues} keys and array elements`
  }
  return null
}

/** The position of the closing quote, or -1: a quote after an odd number of backslashes is part of the string. */
const findStringEnd = (text: string, start: number): number => {
  let end = text.indexOf('"', start)
  while (end !== -1) {
    let first = end
    while (first > start && text.charCodeAt(first - 1) === backslash) first -= 1
    if ((end - first) % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return -1
}

/** The key as JSON.parse will see it, or null where it is no JSON string. */
const readKey = (text: string, start: number, end: number): string | null => {
  const raw = text.slice(start, end)
  if (!raw.includes('\\')) return raw
  try {
    return String(JSON.parse(`"${raw}"`))
  } catch {
    return null
  }
}

const findKeyFlaw = (frames: readonly Frame[], frame: Frame, key: string): string | null => {
  // Copying such keys onto an object would change its prototype.
  if (key === '__proto__') return `${describeKey(frames, key)}: this key is not allowed`
  if (key === 'prototype' && frames[frames.length - 2]?.key === 'constructor') {
    return `${describeKey(frames, key)}: this key is not allowed`
  }
  if (frame.keys?.has(key)) return `${describeKey(frames, key)}: the key stands twice in the same object`
  frame.keys?.add(key)
  return null
}

/** The path of a key that is being read in the innermost frame. */
const describeKey = (frames: readonly Frame[], key: string): string =>
  describePath([...listSteps(frames.slice(0, -1)), key])

const describePlace = (frames: readonly Frame[]): string => ` at ${describePath(listSteps(frames))}`

const listSteps = (frames: readonly Frame[]): readonly (string | number)[] =>
  frames.map(({ keys, key, index }) => (keys === null ? index : key))

/** A path as developers write it, `accepts[0].amount`; long ones are cut. */
export const describePath = (steps: readonly PropertyKey[]): string => {
  let path = ''
  for (const step of steps) {
    if (path.length > maxPathLength) return `${path.slice(0, maxPathLength)}…`
    if (typeof step === 'number') path += `[${step}]`
    else path += path === '' ? cut(String(step)) : `.${cut(String(step))}`
  }
  return path
}

const maxPathLength = 200
const cut = (key: string): string => (key.length > 64 ? `${key.slice(0, 64)}…` : key)
