import { isUtf8 } from 'node:buffer'
import { AppError } from '../errors.js'
import { isFields } from '../protocol/fields.js'

export const maxJsonDepth = 32

/**
 * Maximum keys and array elements in total; an empty container counts as one. Cost is per value, not per byte: 64
 * kB can hold 30,000. A payment has about 40; 64 kB of JSON Schema pass.
 */
export const maxJsonValues = 2_000

/**
 * `JSON.parse` that rejects, before parsing, what parsers read differently: invalid UTF-8, duplicate keys (after
 * unescaping), prototype keys, too many values or levels. Throws INVALID_REQUEST with the path of the key.
 */
export const readJson = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw refuse('The body is not valid UTF-8')
  const text = decode(bytes)
  if (text.length === 0) throw refuse('The body is empty; a JSON object is expected')
  const plain = readFastPath(text)
  if (plain !== undefined) return plain
  const problem = findProblem(text)
  if (problem !== null) throw refuse(problem)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refuse(`The body is not valid JSON${describePosition(error)}`)
  }
}

/**
 * Reads at half the cost; undefined if the full scan is needed. Without backslashes, and without space
 * between a key and its colon, `":` occurs exactly once per key, so the parsed value has fewer keys than the
 * text exactly if one is duplicated.
 */
const readFastPath = (text: string): unknown => {
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

/** Every value but the root follows a bracket or a comma, and two commas have at least one character between them. */
const hasManyValues = (text: string, containers: number): boolean =>
  containers + text.length / 2 > maxJsonValues && containers + count(text, ',', maxJsonValues) > maxJsonValues

const spaceAfterQuote = /"[ \t\r\n]/

/** Counts the occurrences of `part`; stops at `most` + 1. */
const count = (text: string, part: string, most: number): number => {
  let found = 0
  for (let at = text.indexOf(part); at !== -1 && found <= most; at = text.indexOf(part, at + 1)) found += 1
  return found
}

/** `for` with `in` takes an eighth of the time of `Object.values`: V8 keeps the names of objects of one shape. */
const countKeys = (value: unknown): number => {
  let keys = 0
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') keys += countKeys(item)
  } else if (isFields(value)) {
    for (const key in value) {
      keys += 1
      if (typeof value[key] === 'object') keys += countKeys(value[key])
    }
  }
  return keys
}

const refuse = (message: string): AppError => new AppError('INVALID_REQUEST', message)

const decode = (bytes: Buffer): string => {
  const text = bytes.toString('utf8')
  // RFC 8259, section 8.1: parsers may ignore a byte order mark.
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
}

const byteOrderMark = 0xfeff

/** V8's message quotes the body; only the position is repeated. */
const describePosition = (error: unknown): string => {
  const position = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  return position === undefined ? '' : ` (at character ${Number(position) + 1})`
}

interface Frame {
  /** Null in an array. */
  readonly keys: Set<string> | null
  key: string
  index: number
  expectsKey: boolean
}

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Inspects only brackets, commas and strings, in one pass. Invalid JSON may pass: the parser runs afterwards. */
const findProblem = (text: string): string | null => {
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
        const problem = findKeyProblem(frames, frame, key)
        if (problem !== null) return problem
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

/** Index of the closing quote, or -1. A quote after an odd number of backslashes is escaped. */
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

const readKey = (text: string, start: number, end: number): string | null => {
  const raw = text.slice(start, end)
  if (!raw.includes('\\')) return raw
  try {
    return String(JSON.parse(`"${raw}"`))
  } catch {
    return null
  }
}

const findKeyProblem = (frames: readonly Frame[], frame: Frame, key: string): string | null => {
  // Copying such a key to an object would change its prototype.
  if (key === '__proto__') return `${describeKey(frames, key)}: this key is not allowed`
  if (key === 'prototype' && frames[frames.length - 2]?.key === 'constructor') {
    return `${describeKey(frames, key)}: this key is not allowed`
  }
  if (frame.keys?.has(key)) return `${describeKey(frames, key)}: duplicate key in the same object`
  frame.keys?.add(key)
  return null
}

const describeKey = (frames: readonly Frame[], key: string): string =>
  describePath([...listSteps(frames.slice(0, -1)), key])

const describePlace = (frames: readonly Frame[]): string => ` at ${describePath(listSteps(frames))}`

const listSteps = (frames: readonly Frame[]): readonly (string | number)[] =>
  frames.map(({ keys, key, index }) => (keys === null ? index : key))

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
