import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Scheme } from '../../schemes/scheme.js'

export const findScheme = (registry: SchemeRegistry, { requirements }: Payment): Scheme | Reason => {
  const scheme = registry.find(requirements.scheme, requirements.network)
  if (scheme !== null) return scheme
  return registry.hasNetwork(requirements.network) ? 'unsupported_scheme' : 'invalid_network'
}
