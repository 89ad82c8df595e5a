import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// `npm run dev` talks to a running innerview; give its address with INNERVIEW_URL.
const service = process.env.INNERVIEW_URL ?? "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [svelte()],
  base: "./",
  build: {
    outDir: "../src/innerview/page",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: {
    proxy: {
      "^/(api|in)/": {
        target: service,
        changeOrigin: true,
        ws: true,
        configure: (proxy) => {
          proxy.on("proxyReq", (request) => request.setHeader("origin", service));
          proxy.on("proxyReqWs", (request) => request.setHeader("origin", service));
        },
      },
    },
  },
  // Tests read the tokens of app.css.
  test: { environment: "node", include: ["src/**/*.test.ts"], css: true },
});
