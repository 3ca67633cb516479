import { type Fields, fieldsOf, isFields } from '../../protocol/fields.js'
import { parseFields, type ReadRecipients, readAccepts, type UnpaidAnswer } from './readRecipients.js'
import { findTemplateProblem, findUrlProblem, type ResourceKey, toResourceKey } from './resourceKey.js'

/*
 * What a host says of its resources, for those that cannot say it themselves: route templates, MCP tools, and resources
 * that answer no GET. Only who controls the whole host writes below `/.well-known` (RFC 8615). The form is that of the
 * answers of `/discovery/resources`, as proposed for x402 (x402-foundation/x402, issue 2582); `accepts` beside `items`
 * holds for every resource that has no item.
 */

const statementPath = '/.well-known/x402.json'
const maxItems = 1_000

export const statementUrlOf = ({ url }: Pick<ResourceKey, 'url'>): string => new URL(statementPath, url).href

/** Returns what the host says of the resource with this key. */
export const readStatement = (
  { status, body }: Pick<UnpaidAnswer, 'status' | 'body'>,
  key: ResourceKey,
): ReadRecipients => {
  if (status !== 200) return failed(`Its host answered ${statementPath} with status ${status}, not 200.`)
  const statement = body === null ? null : parseFields(body)
  if (statement === null) {
    return failed(`${statementPath} of its host is no JSON object of at most 64 kB, read in 5 s.`)
  }
  const item = listItems(statement).find((each) => hasKey(each, key))
  return (
    readAccepts(item ?? { accepts: statement.accepts }) ??
    failed(`${statementPath} of its host names no recipient for the resource.`)
  )
}

const failed = (problem: string): ReadRecipients => ({ recipients: null, problem })

/** In the form of 402 answers, where `resource` is an object. */
const listItems = ({ items, resources }: Fields): readonly Fields[] =>
  [items, resources]
    .flatMap((list: unknown): readonly unknown[] => (Array.isArray(list) ? list : []))
    .slice(0, maxItems)
    .filter(isFields)
    .map((item) => ({
      ...item,
      resource: isFields(item.resource) ? item.resource : { ...item, url: item.resource ?? item.url },
    }))

const hasKey = ({ resource, extensions }: Fields, key: ResourceKey): boolean => {
  const url = isFields(resource) ? resource.url : null
  if (typeof url !== 'string' || findUrlProblem(url) !== null) return false
  const { info, routeTemplate } = fieldsOf(fieldsOf(extensions).bazaar)
  const { type, toolName } = fieldsOf(fieldsOf(info).input)
  const isTool = type === 'mcp' && typeof toolName === 'string'
  const isTemplate =
    !isTool && typeof routeTemplate === 'string' && findTemplateProblem(routeTemplate) === null
  const found = toResourceKey(url, {
    routeTemplate: isTemplate ? routeTemplate : null,
    toolName: isTool ? toolName : '',
  })
  return found.url === key.url && found.toolName === key.toolName
}
