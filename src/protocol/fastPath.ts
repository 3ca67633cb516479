import type { PayloadShape } from './payload.js'
import { wireLimits } from './wire.js'

/*
 * Nearly every body has the same few fields. What is told apart here by hand takes a tenth of the time that the
 * schemas take, and the schemas copy what they read. `true` says that the schema would accept the very same value,
 * unchanged; `false` says nothing, and the schema decides.
 */

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isText = (value: unknown, maxLength: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= maxLength

// One digit fewer than the largest amount has, so that every value of this form is small enough.
const definiteAmount = /^[0-9]{1,77}$/

const isAmount = (value: unknown): boolean => typeof value === 'string' && definiteAmount.test(value)

const isVersion = (value: unknown): boolean => value === undefined || Number.isSafeInteger(value)

const hasVersions = ({ payVersion, x402Version, t402Version }: Fields): boolean =>
  isVersion(payVersion) && isVersion(x402Version) && isVersion(t402Version)

/** Whether a body of /verify or /settle is one that `wirePaymentRequest` surely accepts as it is. */
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

/** Whether a payload of version 2 is one that `payloadShape` surely accepts as it is. */
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
