import type { Ask } from '../../common/direct/node.js'
import { getMetadata, getRuntimeVersion } from '../rpc/rpc.js'
import { createDecoder, type Decoder } from './decoder.js'

/** Decoders by runtime version. */
export interface Runtimes {
  /** Of the runtime in the state of this block; blocks built on it were executed by that runtime. */
  getDecoder(ask: Ask, parentHash: string): Promise<Decoder>
}

// An upgrade has two versions in use.
const maxVersions = 3

/** Concurrent look-ups share one download of the metadata, and one decoding. */
export const createRuntimes = (): Runtimes => {
  const decoders = new Map<string, Promise<Decoder>>()

  const load = async (ask: Ask, parentHash: string): Promise<Decoder> =>
    createDecoder(await getMetadata(ask, parentHash))

  return {
    getDecoder: async (ask, parentHash) => {
      const { specName, specVersion } = await getRuntimeVersion(ask, parentHash)
      const version = `${specName}/${specVersion}`
      const known = decoders.get(version)
      if (known !== undefined) return await known
      const loading = load(ask, parentHash)
      decoders.set(version, loading)
      loading.catch(() => decoders.delete(version))
      const [oldest] = decoders.keys()
      if (decoders.size > maxVersions && oldest !== undefined) decoders.delete(oldest)
      return await loading
    },
  }
}
