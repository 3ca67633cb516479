import { errorStatus } from '../../errors.js'
import { mapValues } from './mapValues.js'

interface ResponseOfOperation {
  readonly content?: Readonly<Record<string, { readonly examples?: unknown }>> | undefined
}

interface OperationWithResponses {
  readonly responses: Readonly<Record<string, ResponseOfOperation>>
}

type Paths = Readonly<Record<string, Readonly<Record<string, OperationWithResponses>>>>

interface Candidate {
  readonly name: string
  readonly response: ResponseOfOperation
  readonly count: number
}

/**
 * Makes components of the error responses that several operations have, named by their code: `InvalidRequest`. Responses
 * with several codes stay in their operations, as do all but the most frequent of different responses with one code.
 */
export const shareErrors = (paths: Paths) => {
  const shared = chooseShared(paths)
  const names = new Map(shared.map(({ name, response }) => [JSON.stringify(response), name]))
  const refer = (response: ResponseOfOperation) => {
    const name = names.get(JSON.stringify(response))
    return name === undefined ? response : { $ref: `#/components/responses/${name}` }
  }
  return {
    paths: mapValues(paths, (operations) =>
      mapValues(operations, (operation) => ({
        ...operation,
        responses: mapValues(operation.responses, refer),
      })),
    ),
    responses: Object.fromEntries(shared.map(({ name, response }) => [name, response])),
  }
}

/** Sorted by name. */
const chooseShared = (paths: Paths): readonly Candidate[] => {
  const chosen = new Map<string, Candidate>()
  for (const candidate of countErrors(paths)) {
    if (candidate.count > (chosen.get(candidate.name)?.count ?? 1)) chosen.set(candidate.name, candidate)
  }
  return [...chosen.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

const countErrors = (paths: Paths): Iterable<Candidate> => {
  const candidates = new Map<string, Candidate>()
  const responses = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap((operation) => Object.values(operation.responses))
  for (const response of responses) {
    const name = nameByCode(response)
    if (name === null) continue
    const text = JSON.stringify(response)
    candidates.set(text, { name, response, count: (candidates.get(text)?.count ?? 0) + 1 })
  }
  return candidates.values()
}

/** Null unless the response has one example, which is an error. */
const nameByCode = ({ content }: ResponseOfOperation): string | null => {
  const [code, ...others] = Object.keys(content?.['application/json']?.examples ?? {})
  if (code === undefined || others.length > 0 || !Object.hasOwn(errorStatus, code)) return null
  return toPascalCase(code)
}

/** `RATE_LIMITED` becomes `RateLimited`. */
const toPascalCase = (code: string): string =>
  code
    .split('_')
    .map((word) => `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`)
    .join('')
