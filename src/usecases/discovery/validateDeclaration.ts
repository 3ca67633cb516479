import { withinDeadline } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import {
  type Declaration,
  type DeclarationSource,
  readDeclarationFrom,
} from '../../extensions/bazaar/declaration.js'
import {
  type DeclarationSettings,
  type Explanation,
  explainDeclaration,
} from '../../extensions/bazaar/explainDeclaration.js'
import type { ValidationTurn } from '../../ports/schemaValidator.js'
import type { DeclarationReport } from '../../protocol/discovery.js'
import { type Fields, isFields } from '../../protocol/fields.js'
import type { DiscoveryUseCases } from './useCases.js'

/** As a settlement would: the same rules, in the same order. */
export const createValidateDeclaration =
  (settings: DeclarationSettings): DiscoveryUseCases['validateDeclaration'] =>
  async (body, turn): Promise<DeclarationReport> => {
    const declaration = readBody(body)
    if (declaration === null) {
      throw new AppError(
        'INVALID_REQUEST',
        'The body holds no declaration: send { info, schema }, { extensions: { bazaar } }, a 402 answer or a payment',
      )
    }
    const { rules, failed, listing } = await explain(declaration, settings, turn)
    return {
      wouldBeListed: failed === null,
      version: declaration.version,
      ...(failed === null ? {} : { rule: failed.name, reason: failed.reason }),
      ...(listing === null ? {} : { key: viewKey(listing.key), type: listing.type }),
      rules: rules.map(({ rule, status, problem }) => ({
        rule: rule.name,
        status,
        effect: rule.effect,
        sentence: rule.sentence,
        ...(problem === null ? {} : { problem }),
      })),
    }
  }

/** Longer than two values of others take. */
const turnMs = 5_000

const explain = async (
  declaration: Declaration,
  settings: DeclarationSettings,
  { owner, signal: abandoned }: ValidationTurn,
): Promise<Explanation> => {
  try {
    return await withinDeadline({ milliseconds: turnMs, stopped: abandoned }, (signal) =>
      explainDeclaration(declaration, settings, { owner, signal }),
    )
  } catch (cause) {
    if (abandoned.aborted) throw new AppError('INVALID_REQUEST', 'The client hung up', { cause })
    throw new AppError(
      'SERVICE_UNAVAILABLE',
      'Too many declarations are being checked; two of an address at a time',
      { cause, retryAfterSeconds: 2 },
    )
  }
}

const viewKey = ({ url, toolName }: { readonly url: string; readonly toolName: string }) => ({
  url,
  ...(toolName === '' ? {} : { toolName }),
})

/** A bare declaration, a 402 answer of either version, a payment payload, or a request to /settle. */
const readBody = (body: Fields): Declaration | null => {
  const payload = fieldsOf(body.paymentPayload)
  const requirements = fieldsOf(body.paymentRequirements)
  const accepts: readonly unknown[] = Array.isArray(body.accepts) ? body.accepts : []
  const terms = [requirements, ...accepts.filter(isFields)]
  const outputSchema = [body, ...terms].map((each) => each.outputSchema).find(isFields)
  const owner = terms.find((each) => each.outputSchema !== undefined) ?? terms[0] ?? {}
  const extensions = [requirements, payload, body].map((each) => fieldsOf(each.extensions))
  const bare = 'info' in body || 'schema' in body ? body : undefined
  const bazaar =
    extensions.map((each) => each.bazaar).find((each) => each !== undefined) ?? body.declaration ?? bare
  const resources = [requirements.resource, payload.resource, body.resource, owner.resource]
  const details = bazaar === undefined ? { ...owner, ...fieldsOf(body.resource) } : findDetails(resources)
  const source: DeclarationSource = {
    version: bazaar === undefined ? 1 : 2,
    bazaar,
    outputSchema,
    resource: resources.map(readUrl).find((url) => url !== null) ?? null,
    details,
    extensionKeys: extensions.flatMap((each) => Object.keys(each)),
  }
  return readDeclarationFrom(source)
}

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

const findDetails = (resources: readonly unknown[]): Fields => resources.find(isFields) ?? {}

const readUrl = (resource: unknown): string | null => {
  const url = isFields(resource) ? resource.url : resource
  return typeof url === 'string' ? url : null
}
