import type { Clock } from '../../ports/clock.js'
import type { StreamStore } from '../../ports/streamStore.js'
import { getOwnStream } from './control.js'
import type { StreamUseCases } from './useCases.js'
import { viewStream, viewUpdate } from './viewStream.js'

export const createReadStreams = (
  store: Pick<StreamStore, 'find' | 'list'>,
  clock: Clock,
): Pick<StreamUseCases, 'getStream' | 'listStreams'> => ({
  getStream: async (actor, id) => viewUpdate(await getOwnStream(store, actor, id), clock.now()),

  listStreams: async (caller, { status = null, limit, cursor = null }) => {
    const found = await store.list({ caller, state: status, limit: limit + 1, after: cursor })
    const shown = found.slice(0, limit)
    const last = found.length > limit ? shown.at(-1) : undefined
    return { streams: shown.map(viewStream), ...(last === undefined ? {} : { nextCursor: last.id }) }
  },
})
