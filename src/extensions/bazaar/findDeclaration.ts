import { type Fields, fieldsOf, isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { ExtensionProblem } from '../extension.js'
import { type Declaration, type DeclarationSource, readDeclarationFrom } from './declaration.js'

/** In a bare declaration, a 402 answer of either version, a payment payload, or a request to /settle. */
export const findDeclaration = (body: Fields): Declaration | null => {
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

const findDetails = (resources: readonly unknown[]): Fields => resources.find(isFields) ?? {}

const readUrl = (resource: unknown): string | null => {
  const url = isFields(resource) ? resource.url : resource
  return typeof url === 'string' ? url : null
}

/** Shape only: everything else costs the listing, never the payment. */
export const findProblem = ({
  declaredExtensions,
  clientExtensions,
}: Pick<Payment, 'declaredExtensions' | 'clientExtensions'>): ExtensionProblem | null => {
  const declared = findShapeProblem(declaredExtensions.bazaar)
  if (declared !== null) return { origin: 'requirements', ...declared }
  const repeated = findShapeProblem(clientExtensions.bazaar)
  return repeated === null ? null : { origin: 'payload', ...repeated }
}

const findShapeProblem = (bazaar: unknown): Pick<ExtensionProblem, 'path' | 'message'> | null => {
  if (bazaar === undefined) return null
  const message = 'must be an object'
  if (!isFields(bazaar)) return { path: 'bazaar', message }
  for (const part of ['info', 'schema'] as const) {
    if (bazaar[part] !== undefined && !isFields(bazaar[part])) return { path: `bazaar.${part}`, message }
  }
  return null
}
