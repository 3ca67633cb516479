import { multicallAddress } from '../../abi/contracts.js'
import type { Rpc } from '../../rpc/rpc.js'

/** Whether Multicall3 stands on a network; a call to where it does not stand succeeds and does nothing. */
export interface MulticallPresence {
  /** Null until a node has told. */
  readonly known: boolean | null
  /** Asks a node unless one has told; false while none answers. */
  ask(): Promise<boolean>
}

/** Asks once; what does not stand there yet is asked again by the next start. */
export const createMulticallPresence = (rpc: Rpc): MulticallPresence => {
  let known: boolean | null = null
  let asked: Promise<boolean> | null = null
  const ask = async (): Promise<boolean> => {
    try {
      known = (await rpc.getCode(multicallAddress)) !== '0x'
      return known
    } catch {
      asked = null
      return false
    }
  }
  return {
    get known() {
      return known
    },
    ask: async () => {
      asked ??= ask()
      return await asked
    },
  }
}
