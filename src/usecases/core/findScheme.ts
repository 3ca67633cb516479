import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Scheme } from '../../schemes/scheme.js'

/** The scheme that a payment is for, or why there is none. */
export const findScheme = (registry: SchemeRegistry, { requirements }: Payment): Scheme | Reason => {
  const scheme = registry.find(requirements.scheme, requirements.network)
  if (scheme !== null) return scheme
  // Without any chain configured no scheme is known, and the scheme is what is refused first.
  return registry.hasScheme(requirements.scheme) ? 'invalid_network' : 'unsupported_scheme'
}
