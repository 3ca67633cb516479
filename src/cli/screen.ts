import { z } from 'zod'

interface ScreenOutput {
  write(text: string): unknown
}

/** A destination of the log that writes for people. */
interface Screen {
  /** One JSON line of the log. */
  write(line: string): void
  /** Keeps lines back until `show`. */
  hold(): void
  /** Writes text of our own, then what was held back. `covers`: except events at level info, which the text describes. */
  show(text: string, options?: { readonly covers: boolean }): void
}

export const createScreen = (output: ScreenOutput, hasColours: boolean): Screen => {
  let held: string[] | null = null
  return {
    write: (line) => {
      if (held === null) output.write(`${formatLogLine(line, hasColours)}\n`)
      else held.push(line)
    },
    hold: () => {
      held ??= []
    },
    show: (text, { covers } = { covers: false }) => {
      output.write(text)
      const lines = (held ?? []).filter((line) => !covers || !line.includes('"level":"info"'))
      for (const line of lines) output.write(`${formatLogLine(line, hasColours)}\n`)
      held = null
    },
  }
}

const entryShape = z.looseObject({ level: z.string(), time: z.string(), msg: z.string() })

/** Turns one JSON line of the log into text for a terminal, without the line break. Other lines stay as they are. */
export const formatLogLine = (line: string, hasColours: boolean): string => {
  const parsed = entryShape.safeParse(readJson(line))
  if (!parsed.success) return printable(line.trimEnd())
  const paint = createPaint(hasColours)
  const { level, time, msg, error, ...fields } = parsed.data
  const head = `${paint('dim', clockOf(time))} ${paintLevel(level, paint)} `
  if (msg === 'request.completed') return `${head}${formatRequest(fields, paint)}`
  const parts = [paint('bold', printable(msg)), ...listFields(fields, paint)]
  return [`${head}${parts.join(' ')}`, ...formatError(error, paint)].join('\n')
}

const readJson = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

/** Local time of day. */
const clockOf = (time: string): string => {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? time : date.toTimeString().slice(0, 8)
}

const levelStyles: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', debug: 'dim' }

const paintLevel = (level: string, paint: Paint): string => {
  const style = levelStyles[level]
  const text = level.toUpperCase().padEnd(5)
  return style === undefined ? text : paint(style, text)
}

const formatRequest = (
  {
    method,
    path,
    status,
    durationMs,
    code,
    remoteAddress,
    requestId: _requestId,
    ...rest
  }: Record<string, unknown>,
  paint: Paint,
): string => {
  const isFailure = typeof status === 'number' && status >= 400
  const parts = [
    show(method).padEnd(4),
    show(path),
    paint(isFailure ? 'yellow' : 'green', show(status)),
    ...(code === undefined ? [] : [paint('yellow', show(code))]),
    paint('dim', `${show(durationMs)} ms from ${show(remoteAddress)}`),
    ...listFields(rest, paint),
  ]
  return parts.join(' ')
}

const listFields = (fields: Readonly<Record<string, unknown>>, paint: Paint): readonly string[] =>
  Object.entries(fields).map(([name, value]) => `${paint('dim', `${printable(name)}=`)}${show(value)}`)

const show = (value: unknown): string =>
  typeof value === 'string' ? printable(value) : printable(JSON.stringify(value) ?? 'undefined')

const errorShape = z.looseObject({
  type: z.string(),
  message: z.string(),
  code: z.string().optional(),
  stack: z.string().optional(),
  cause: z.unknown().optional(),
})

/** One line for the error and each cause; stack frames below it where the log has them. */
const formatError = (error: unknown, paint: Paint): readonly string[] => {
  if (error === undefined) return []
  const parsed = errorShape.safeParse(error)
  if (!parsed.success) return [`         ${show(error)}`]
  const { type, message, code, stack = '', cause } = parsed.data
  const frames = stack.split('\n').filter((each) => /^\s+at /.test(each))
  return [
    `         ${paint('red', printable(type))}${code === undefined ? '' : ` ${printable(code)}`}: ${printable(message)}`,
    ...frames.map((frame) => paint('dim', `           ${printable(frame.trim())}`)),
    ...formatError(cause, paint),
  ]
}

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

type Style = keyof typeof codes
export type Paint = (style: Style, text: string) => string

export const createPaint = (hasColours: boolean): Paint =>
  hasColours ? (style, text) => `\u001B[${codes[style]}m${text}\u001B[0m` : (_style, text) => text

/** Names of callers and answers of nodes must not control the terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{C}+/gu, ' ')
