import { type AnyChainFamily, defineChain } from '../chain.js'
import { readSandboxSettings } from './settings.js'

/** Networks without a chain. The other families, given here, read the payments; none of them is opened. */
export const createSandbox = (readers: readonly AnyChainFamily[]): AnyChainFamily =>
  defineChain({
    namespace: 'sandbox',
    readSettings: readSandboxSettings,
    load: async () => {
      const { createOpen } = await import('./open.js')
      return { open: createOpen(readers) }
    },
  })
