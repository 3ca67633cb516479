import { z } from 'zod'
import { createPaint, type Paint, printable, type Style } from './paint.js'

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
