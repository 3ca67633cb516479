import type { ListedResource } from '../../ports/discoveryCatalogue.js'
import { isFields } from '../../protocol/fields.js'
import type { Declaration } from './declaration.js'
import { isIconUrl, isServiceName, readTags } from './metadata.js'
import { toResourceKey } from './resourceKey.js'
import { readVisibleText } from './visibleText.js'

const maxDescriptionLength = 1_000
const maxMimeTypeLength = 128

/** `passed` names the rules that hold: parts whose rule does not are left out. */
export const readListing = (declaration: Declaration, passed: ReadonlySet<string>): ListedResource => {
  const { details, version } = declaration
  const { info, schema, routeTemplate } = isFields(declaration.content) ? declaration.content : {}
  const input = isFields(info) && isFields(info.input) ? info.input : {}
  const isMcp = input.type === 'mcp'
  const template =
    !isMcp && passed.has('route_template') && typeof routeTemplate === 'string' ? routeTemplate : null
  return {
    key: toResourceKey(declaration.resource ?? '', {
      routeTemplate: template,
      toolName: isMcp ? String(input.toolName) : '',
    }),
    type: isMcp ? 'mcp' : 'http',
    method: isMcp ? null : String(input.method),
    version,
    declaration: { info, schema, ...(template === null ? {} : { routeTemplate: template }) },
    extensionKeys: declaration.extensionKeys,
    description: readVisibleText(
      details.description ?? (isMcp ? input.description : undefined),
      maxDescriptionLength,
    ),
    mimeType: readVisibleText(details.mimeType, maxMimeTypeLength),
    serviceName: isServiceName(details.serviceName) ? details.serviceName : null,
    tags: readTags(details.tags),
    iconUrl: isIconUrl(details.iconUrl) ? details.iconUrl : null,
  }
}
