import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/platform/logger.js'
import type { ClaimDemands } from '../../../src/protocol/recipients.js'
import { createDirectNetwork } from '../../../src/schemes/exactDirect/directChain.js'
import { createExactDirectScheme } from '../../../src/schemes/exactDirect/scheme.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createFindConfigured } from '../../../src/usecases/recipients/index.js'
import { createManualClock } from '../../support/manualClock.js'
import { createToyDirectChain } from '../../support/toyDirectChain.js'

const none: ClaimDemands = { memo: false, signedClaim: false, uniqueAmount: false, ownKey: false }

const configure = (demands: Partial<ClaimDemands>) => {
  // A network whose transfers carry no memo and whose wallets sign no messages.
  const { chain } = createToyDirectChain({ carriesMemo: false, isSignedBy: null })
  const registry = createSchemeRegistry([
    createExactDirectScheme(chain, { clock: createManualClock(), network: createDirectNetwork(chain) }),
  ])
  const recipient = { network: 'toy:1', payTo: 'bob', demands: { ...none, ...demands }, accountId: 'shop' }
  return createFindConfigured([recipient], registry, silentLogger)
}

it.each([
  ['a memo', { memo: true }, 'transfers of toy:1 carry no memo'],
  ['a signed claim', { signedClaim: true }, 'wallets of toy:1 sign no messages'],
])('a configured recipient cannot demand %s that its network lacks', (_, demands, message) => {
  expect(() => configure(demands)).toThrow(message)
})

it('a configured recipient can demand what its network has', () => {
  const find = configure({ ownKey: true })
  expect(find({ network: 'toy:1', payTo: 'bob' })).toMatchObject({ demands: { ownKey: true } })
})
