import { type Fields, isFields } from './fields.js'
import { type PayloadShape, wireLimits } from './wire.js'

/*
 * Hand-written checks for the most common request shape: a tenth of the cost of the zod schemas, and no copies.
 * `true` means that the schema would accept the same value unchanged; `false` means that the schema must
 * decide.
 */

const isText = (value: unknown, maxLength: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= maxLength

// One digit less than 2^256 - 1 has, so that every match fits.
const shortAmount = /^[0-9]{1,77}$/

const isAmount = (value: unknown): boolean => typeof value === 'string' && shortAmount.test(value)

const isVersion = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value)

const hasVersions = ({ payVersion, x402Version, t402Version }: Fields): boolean =>
  isVersion(payVersion) && isVersion(x402Version) && isVersion(t402Version)

/** Implies that `wirePaymentRequest` accepts the body unchanged. */
export const isCommonRequest = (body: unknown): boolean =>
  isFields(body) &&
  hasVersions(body) &&
  isFields(body.paymentPayload) &&
  isFields(body.paymentRequirements) &&
  isCommonRequirements(body.paymentRequirements) &&
  body.settleAmount === undefined &&
  body.usageDetails === undefined

const isCommonRequirements = (fields: Fields): boolean => {
  const { scheme, network, asset, payTo, amount, maxTimeoutSeconds, extra } = fields
  return (
    isText(scheme, wireLimits.scheme) &&
    isText(network, wireLimits.network) &&
    isText(asset, wireLimits.address) &&
    isText(payTo, wireLimits.address) &&
    isAmount(amount) &&
    typeof maxTimeoutSeconds === 'number' &&
    maxTimeoutSeconds > 0 &&
    maxTimeoutSeconds <= wireLimits.timeoutSeconds &&
    (extra === undefined || isFields(extra)) &&
    rareFields.every((field) => fields[field] === undefined)
  )
}

const rareFields = [
  'maxAmountRequired',
  'maxAmount',
  'minAmount',
  'resource',
  'description',
  'mimeType',
  'outputSchema',
  'extensions',
]

/** Implies that `payloadShape` accepts the version 2 payload unchanged. */
export const isCommonPayload = (payload: unknown): payload is PayloadShape =>
  isFields(payload) &&
  hasVersions(payload) &&
  payload.scheme === undefined &&
  payload.network === undefined &&
  isFields(payload.accepted) &&
  isCommonTerms(payload.accepted) &&
  isFields(payload.payload) &&
  (payload.resource === undefined || isCommonResource(payload.resource))

const isCommonTerms = ({
  scheme,
  network,
  asset,
  payTo,
  amount,
  maxAmount,
  maxAmountRequired,
}: Fields): boolean =>
  typeof scheme === 'string' &&
  typeof network === 'string' &&
  typeof asset === 'string' &&
  typeof payTo === 'string' &&
  typeof amount === 'string' &&
  maxAmount === undefined &&
  maxAmountRequired === undefined

const isCommonResource = (resource: unknown): boolean =>
  isFields(resource) &&
  typeof resource.url === 'string' &&
  resource.url.length <= wireLimits.url &&
  !resource.url.includes('\0')
