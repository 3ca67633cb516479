import { type Fields, isFields } from '../../protocol/fields.js'
import { hasHiddenCharacters } from './visibleText.js'

const queryMethods: readonly unknown[] = ['GET', 'HEAD', 'DELETE']
const bodyMethods: readonly unknown[] = ['POST', 'PUT', 'PATCH']
const bodyTypes: readonly unknown[] = ['json', 'form-data', 'text']
const transports: readonly unknown[] = ['streamable-http', 'sse']
const maxToolNameLength = 128

type InputRule = 'method' | 'body' | 'parameters' | 'parameters1' | 'tool'

/** Null: the rule holds, or is not for this kind of input. */
export const findInputProblem = (rule: InputRule, input: Fields): string | null => {
  if (rule === 'tool') return input.type === 'mcp' ? findToolProblem(input) : null
  if (input.type !== 'http') return null
  switch (rule) {
    case 'method':
      return queryMethods.includes(input.method) || bodyMethods.includes(input.method)
        ? null
        : 'info.input.method is missing or another'
    case 'body':
      return findBodyProblem(input)
    case 'parameters':
      return findParameterProblem(input) ?? findHeaderProblem(input)
    case 'parameters1':
      return findParameterProblem(input)
  }
}

const findBodyProblem = ({ method, bodyType, body }: Fields): string | null => {
  if (!bodyMethods.includes(method)) {
    const present = bodyType !== undefined ? 'bodyType' : body !== undefined ? 'body' : null
    return present === null ? null : `info.input.${present} is set although ${String(method)} has no body`
  }
  if (!bodyTypes.includes(bodyType)) return 'info.input.bodyType is missing or another'
  return isFields(body) ? null : 'info.input.body is missing or not an object'
}

const findParameterProblem = (input: Fields): string | null => {
  const wrong = ['queryParams', 'pathParams', 'headers'].find(
    (name) => input[name] !== undefined && !isFields(input[name]),
  )
  return wrong === undefined ? null : `info.input.${wrong} is not an object`
}

const findHeaderProblem = ({ headers }: Fields): string | null =>
  isFields(headers) && Object.values(headers).some((value) => typeof value !== 'string')
    ? 'a value of info.input.headers is not a string'
    : null

const findToolProblem = ({ toolName, inputSchema, transport }: Fields): string | null => {
  if (typeof toolName !== 'string' || toolName.trim() === '' || toolName.length > maxToolNameLength) {
    return `info.input.toolName does not have 1 to ${maxToolNameLength} characters`
  }
  if (hasHiddenCharacters(toolName)) return 'info.input.toolName contains invisible characters'
  if (!isFields(inputSchema)) return 'info.input.inputSchema is missing or not an object'
  return transport === undefined || transports.includes(transport) ? null : 'info.input.transport is another'
}
