import type { SandboxAddress } from '../../protocol/sandbox.js'
import type { Sandbox } from '../chain.js'
import type { FixedPayer, FixedScript } from './fixedPayers.js'

/** Fixed payers of a namespace. */
export interface AddressGroup {
  readonly namespace: string
  readonly networks: readonly string[]
  readonly schemes: readonly string[]
  readonly payers: readonly FixedPayer[]
}

/** Every fixed payer with a request on its first network that is ready to send; each call draws new nonces. */
export const listAddresses = (
  groups: readonly AddressGroup[],
  writeRequest: Sandbox['writeRequest'],
  now: Date,
): readonly SandboxAddress[] =>
  groups.flatMap(({ namespace, networks, schemes, payers }) =>
    payers.flatMap(({ name, address, meaning, script }) => {
      const request = writeRequest(networks[0] ?? '', address, now)
      if (request === null) return []
      return [
        {
          name,
          address,
          family: namespace,
          networks: [...networks],
          schemes: [...schemes],
          meaning,
          ...describeAnswers(script),
          request,
        },
      ]
    }),
  )

const describeAnswers = ({
  verifyRefusal,
  settleRefusal,
  settle,
}: FixedScript): Pick<SandboxAddress, 'verify' | 'settle'> => {
  const refused = verifyRefusal ?? settleRefusal
  return {
    verify: verifyRefusal === null ? { isValid: true } : { isValid: false, invalidReason: verifyRefusal },
    settle:
      refused !== null
        ? { success: false, errorReason: refused }
        : settle.pendingSeconds > 0
          ? { success: false, errorReason: 'settlement_pending', status: 'pending' }
          : { success: true },
  }
}
