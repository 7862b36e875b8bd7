// The content of apps1.mjs and apps2.mjs. The tool says whether its client shows pages.
const uri = 'ui://clock/face';
const mimeType = 'text/html;profile=mcp-app';

export function addApp(server, name) {
  const ui = { csp: { connectDomains: [`https://${name}.example`] }, prefersBorder: true };
  server.registerResource('face', uri, { mimeType, _meta: { ui } }, () => ({
    contents: [{ uri, mimeType, text: `<!doctype html><title>${name}</title>`, _meta: { ui } }]
  }));
  const shows = (capabilities) => capabilities?.extensions?.['io.modelcontextprotocol/ui']?.mimeTypes?.includes(mimeType) ?? false;
  server.registerTool(`time_${name}`, { description: 'Says the time', _meta: { ui: { resourceUri: uri } } }, (ctx) => ({
    content: [{ type: 'text', text: `noon at ${name}, pages: ${shows(ctx.mcpReq?.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? server.server.getClientCapabilities())}` }]
  }));
  server.registerTool(
    `wind_${name}`,
    { description: 'Winds it up', _meta: { ui: { resourceUri: uri, visibility: ['app'] } } },
    () => ({ content: [{ type: 'text', text: `wound ${name}` }] })
  );
}
