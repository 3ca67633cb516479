import { isObject, type Json, readObject, readText } from './json.js'

/** What a resource server asks for, in version 2. */
export interface Requirements {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Json
}

export interface Resource {
  readonly url: string
  readonly description: string
  readonly mimeType: string
}

/** The body of `/verify` and `/settle`. */
export interface PaymentBody {
  readonly x402Version: 2
  readonly paymentPayload: Json
  readonly paymentRequirements: Json
}

/** What a server of yours would sell. */
export const resource: Resource = {
  url: 'https://shop.example/report',
  description: 'A report',
  mimeType: 'application/json',
}

/** The first entry of what `/accepts` completed; null if it has none of this form. */
export const readRequirements = (answer: Json | null): Requirements | null => {
  const accepts = answer?.accepts
  const first: unknown = Array.isArray(accepts) ? accepts[0] : undefined
  if (!isObject(first)) return null
  const [scheme, network, amount, asset, payTo] = ['scheme', 'network', 'amount', 'asset', 'payTo'].map(
    (name) => readText(first, name),
  )
  const { maxTimeoutSeconds } = first
  if (scheme == null || network == null || amount == null || asset == null || payTo == null) return null
  if (typeof maxTimeoutSeconds !== 'number') return null
  return { scheme, network, amount, asset, payTo, maxTimeoutSeconds, extra: readObject(first, 'extra') ?? {} }
}
